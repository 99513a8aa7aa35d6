"""What the exit table hides in logs, one by one, to look at: is each a secret, or masked wrongly?

    python bench/masked.py FOLDER [kind]

Every text in every log below the folder, as a digest would see it: the strings of JSON lines and
documents and of SQLite columns, and those of JSON inside of them. Printed are each different thing
that is hidden with what stands around it, and at the end the share of characters.
"""

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from agentfeedback.scrub import SUBMIT, Scrubber

_AROUND = 40
_LONGEST = 1 << 20


def strings(value: object) -> Iterator[str]:
    """Every string of a tree."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def texts(path: Path) -> Iterator[str]:
    """Every text of a log."""
    raw = path.read_bytes()
    if raw.startswith(b"SQLite format 3"):
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            tables = [
                row[0]
                for row in database.execute("select name from sqlite_master where type='table'")
            ]
            for table in tables:
                for row in database.execute(f'select * from "{table}"'):
                    yield from (cell for cell in row if isinstance(cell, str))
        return
    text = raw.decode("utf-8", "replace")
    try:
        yield from strings(json.loads(text))
        return
    except ValueError:
        pass
    for line in text.splitlines():
        try:
            yield from strings(json.loads(line))
        except ValueError:
            yield line


def hidden(text: str, scrubbed: str) -> Iterator[tuple[str, str]]:
    """Each marker's kind, and what stood in its place with what stands around it."""
    pieces = scrubbed.split("[REDACTED:")
    pos = len(pieces[0])
    for number, piece in enumerate(pieces[1:], 1):
        kind, _, rest = piece.partition("]")
        last = number == len(pieces) - 1
        end = len(text) - len(rest) if last else text.find(rest[:80] or "\0", pos) if rest else pos
        end = max(end, pos)
        yield kind, f"{text[max(0, pos - _AROUND) : pos]}⟦{text[pos:end]}⟧{text[end : end + 12]}"
        pos = end + len(rest)


def main(folder: str, only: str = "") -> None:
    """Print what is hidden below a folder."""
    seen: Counter[tuple[str, str]] = Counter()
    characters = lost = count = masked = 0
    for path in sorted(Path(folder).rglob("*")):
        if not path.is_file() or path.suffix in (".py", ".md"):
            continue
        for text in texts(path):
            if len(text) > _LONGEST:
                continue
            count += 1
            characters += len(text)
            scrubber = Scrubber(SUBMIT)
            scrubbed = scrubber.text(text)
            if scrubbed is text:
                continue
            masked += 1
            for kind, shown in hidden(text, scrubbed):
                seen[kind, shown.replace("\n", "⏎")] += 1
                lost += len(shown.split("⟦")[1].split("⟧")[0])
    for (kind, shown), times in sorted(seen.items()):
        if only in kind:
            print(f"{times:5} {kind:16} {shown[:300]}")
    print(
        f"{count} texts, {characters} characters; {masked} texts with a marker, {lost} characters hidden"
        f" ({100 * lost / max(1, characters):.4f} %)"
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
