"""A hundred thousand mutated records of real logs: nothing raises, and every line is counted as what it is."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Place, Reader
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline

RECORDS = int(os.environ.get("AGENTFEEDBACK_FUZZ", "1")) * 25_000
#: One value of each JSON type, and some that are odd but valid.
VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e300,
    2**70,
    "",
    "text",
    [],
    [[]],
    [None, 1, "x"],
    {},
    {"a": {}},
]
#: Where the logs of each harness are below the folder of real logs, and the member that alone makes a line an entry.
LOGS = {
    "claude-code": "claude-code/*/projects/*/*.jsonl",
    "codex": "codex/*/sessions/**/*.jsonl",
    "copilot": "copilot/home/session-state/*/events.jsonl",
    "gemini-cli": "gemini-cli/**/*.jsonl",
}


class Lines(Log):
    """A log of given bytes, in blocks of odd sizes."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self._content = content

    def blocks(self) -> Iterator[bytes]:
        for start in range(0, len(self._content), 8191):
            yield self._content[start : start + 8191]


def places_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members and items of a JSON value."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in items:
        yield (*path, key)
        yield from places_of(each, (*path, key))


def mutated(rng: random.Random, line: bytes) -> bytes:
    """The line with a member of another type, without one, twice, or broken as bytes."""
    kind = rng.random()
    if kind < 0.15:
        return broken(rng, line)
    record = json.loads(line)
    *above, last = rng.choice(list(places_of(record)))
    parent = record
    for key in above:
        parent = parent[key]
    if kind < 0.25 and isinstance(parent, dict):
        del parent[last]
    else:
        parent[last] = rng.choice(VALUES)
    return json.dumps(record, ensure_ascii=rng.random() < 0.3, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def broken(rng: random.Random, line: bytes) -> bytes:
    at = rng.randrange(len(line))
    choice = rng.randrange(5)
    if choice == 0:
        return line[:at]
    if choice == 1:
        return line[:at] + bytes([rng.choice([0, 1, 9, 0x7F, 0xC3, 0xFF])]) + line[at:]
    if choice == 2:
        return line[:at] + line[at + 1 :]
    if choice == 3:
        return line + line
    return line.replace(b'"', b'"\\ud800', 1)


def is_object(line: bytes) -> bool:
    """Whether a line is a JSON object, by the standard library alone: an independent count."""
    try:
        text = line.decode("utf-8", "replace")
        value = json.loads(text, parse_constant=_refuse) if not text.startswith("\ufeff") else None
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _refuse(name: str) -> None:
    raise ValueError(name)


def readers() -> dict[str, Reader]:
    host = Host({})
    found = {harness: host.reader(harness) for harness in LOGS if harness in host.harnesses()}
    return {harness: reader for harness, reader in found.items() if reader is not None}


@pytest.mark.parametrize("harness", list(LOGS))
def test_mutated_records_are_counted_and_never_raise(real: Path, harness: str) -> None:
    """Each reader tells mutated real lines without an exception; its counts equal an independent count."""
    reader = readers()[harness]
    rng = random.Random(harness)
    lines = [
        line
        for path in sorted(real.glob(LOGS[harness]))
        for line in path.read_bytes().splitlines(keepends=False)
        if len(line) < 20_000 and is_object(line)
    ]
    assert lines
    parsed = told = 0
    while told < RECORDS:
        batch = [mutated(rng, rng.choice(lines)).replace(b"\n", b" ") for _ in range(250)]
        told += len(batch)
        content = b"".join(line + b"\n" for line in batch)
        tally, timeline = (
            Tally.for_reader(reader.rewrites),
            Timeline(lambda text, limit: text[:limit], rewrites=reader.rewrites),
        )
        for sink in (tally, timeline):
            log = Lines(content)
            reader.read(log, Place(), sink)
            assert (log.lines, log.size) == (len(batch), len(content))
        objects = sum(map(is_object, batch))
        counts = tally.counts()
        assert vars_of(counts) == vars_of(timeline.counts())
        if (
            harness == "gemini-cli"
        ):  # an object may have none of its shapes, and a message may be written again
            assert counts.unparsed >= len(batch) - objects
            assert counts.entries <= objects
        else:
            assert (counts.entries, counts.unparsed) == (objects, len(batch) - objects)
        parsed += objects
    assert parsed >= told / 2


def vars_of(counts: Any) -> tuple[int, ...]:
    names = ("entries", "prompts", "tool_calls", "tool_errors", "interrupts", "denials", "unparsed")
    return tuple(getattr(counts, name) for name in names)
