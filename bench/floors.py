"""What reading a store costs at least: every mode reads every byte of every session once.

    python bench/floors.py orjson HOME

`noop` only names the files, `read` reads them, `orjson` parses every line into Python objects,
`msgspec` checks every line and builds three members: what an exact reader cannot do without.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterator

#: Where session logs are below a home.
LOGS = (
    ".claude/projects/*/*.jsonl",
    ".codex/sessions/*/*/*/*.jsonl",
    ".gemini/tmp/*/chats/*.jsonl",
    ".copilot/session-state/*/events.jsonl",
)
_BLOCK = 256 * 1024


def logs(home: str) -> list[str]:
    """The paths of all session logs below a home."""
    return [path for form in LOGS for path in sorted(glob.glob(os.path.join(home, form)))]


def _blocks(path: str) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            yield block


def _batches(path: str) -> Iterator[list[bytes]]:
    """The complete lines, those of one block at a time."""
    rest: list[bytes] = []
    for block in _blocks(path):
        end = block.rfind(b"\n")
        if end < 0:
            rest.append(block)
            continue
        rest.append(block[:end])
        yield b"".join(rest).split(b"\n")
        rest = [block[end + 1 :]]


def _noop(path: str) -> int:
    return 0


def _read(path: str) -> int:
    return sum(map(len, _blocks(path)))


def _parsed(parse: Callable[[bytes], object]) -> Callable[[str], int]:
    def refused(path: str) -> int:
        count = 0
        for lines in _batches(path):
            for line in lines:
                try:
                    parse(line)
                except ValueError:
                    count += 1
        return count

    return refused


def _orjson() -> Callable[[str], int]:
    import orjson

    return _parsed(orjson.loads)


def _msgspec() -> Callable[[str], int]:
    import msgspec

    kind = msgspec.defstruct(
        "Line", [(name, str | None, None) for name in ("type", "timestamp", "uuid")]
    )
    return _parsed(msgspec.json.Decoder(kind).decode)


MODES: dict[str, Callable[[], Callable[[str], int]]] = {
    "noop": lambda: _noop,
    "read": lambda: _read,
    "orjson": _orjson,
    "msgspec": _msgspec,
}


def main() -> None:
    mode, home = sys.argv[1:]
    floor = MODES[mode]()
    print(mode, sum(map(floor, logs(home))))


if __name__ == "__main__":
    main()
