"""Lines and logs made from those of a corpus: every member with every JSON type, and logs at random."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

_M = TypeVar("_M")
#: One value of each JSON type, and those that are likely to be taken for another.
VALUES: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, "", "text", [], [None], {}, {"type": 1})

#: How many items of a list are looked at.
_FEW = 2
#: How many lines of a session a log at random begins with.
_MOST = 30

#: Lines that are not JSON objects.
NO_OBJECTS: dict[str, bytes] = {
    "an empty line": b"",
    "white space": b" \t\r",
    "JSON that breaks off": b'{"type":"user","text":"unfin',
    "not JSON": b"Killed.",
    "a list": b'[{"type":"user"}]',
    "null": b"null",
    "a text": b'"user"',
    "two objects": b'{"a":1}{"b":2}',
    "a NaN": b'{"a":NaN}',
    "a trailing comma": b'{"a":1,}',
    "bytes that are not UTF-8": b"\xff\xfe\x80",
    "NUL bytes": b"\0" * 64,
    "deep nesting": b"[" * 100_000,
}
#: Objects that no format knows.
UNKNOWN: dict[str, bytes] = {
    "no members": b"{}",
    "an unknown type": b'{"type":"agentfeedback-no-such-type","agentfeedback":{"no":["such","member"]}}',
    "text that is not UTF-8": b'{"type":"agentfeedback-no-such-type","agentfeedback":"\xff\xc3(\xed\xa0\x80"}',
    "a line of 5 MB": b'{"type":"agentfeedback-no-such-type","agentfeedback":"'
    + b"x" * 5_000_000
    + b'"}',
}


def factor() -> int:
    """How many times the usual number of examples: the variable `AGENTFEEDBACK_FUZZ`."""
    value = os.environ.get("AGENTFEEDBACK_FUZZ", "")
    return max(1, int(value)) if value.isdecimal() else 1


def each_example(
    strategy: SearchStrategy[Any], check: Callable[[Any], None], examples: int
) -> None:
    """Check that many examples of a strategy: the same ones in every run, unless more are asked for."""
    from hypothesis import HealthCheck, Phase, given, settings

    many = factor()
    phases = [Phase.generate, Phase.shrink] if many > 1 else [Phase.generate]
    bounds = settings(
        max_examples=examples * many,
        derandomize=many == 1,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    bounds(given(strategy)(check))()


def mutations(sessions: Sequence[Sequence[bytes]]) -> Iterator[tuple[int, int, str, bytes]]:
    """Each member of each kind of line replaced by each value, and left out: (session, index, what, line).

    The same member of lines of one kind (those with the same words under `type` and the like) is
    taken once.
    """
    seen = set()
    for number, lines in enumerate(sessions):
        for index, line in enumerate(lines):
            value = _object(line)
            if value is None:
                continue
            kind = tuple(_kinds(value))
            for path in _paths(value):
                if (kind, path) in seen:
                    continue
                seen.add((kind, path))
                shown = ".".join(map(str, path))
                for other in VALUES:
                    yield (
                        number,
                        index,
                        f"{shown} = {other!r}",
                        _written(_replaced(value, path, other)),
                    )
                yield number, index, f"no {shown}", _written(_removed(value, path))


def some(mutations: Sequence[_M], most: int) -> Sequence[_M]:
    """At most so many of them, spread evenly; all of them when `AGENTFEEDBACK_FUZZ` asks for more.

    The step from one to the next shares no divisor with the number of changes that each member
    has, so that every member and every kind of change is among them.
    """
    if factor() > 1 or len(mutations) <= most:
        return mutations
    step = -(-len(mutations) // most)
    while math.gcd(step, len(VALUES) + 1) > 1:
        step += 1
    return mutations[::step]


def logs(sessions: Sequence[Sequence[bytes]]) -> SearchStrategy[list[bytes]]:
    """Logs at random: lines of a session in any order, mutated, cut short, joined, with any bytes between."""
    from hypothesis import strategies as st

    sessions = [[line for line in lines if len(line) < 100_000] for lines in sessions]
    sessions = [lines for lines in sessions if lines] or [[b"{}"]]

    @st.composite
    def mutated(draw: st.DrawFn, pool: Sequence[bytes]) -> bytes:
        line = draw(st.sampled_from(pool))
        value = _object(line)
        if value is None or not (paths := list(_paths(value))):
            return line
        path = draw(st.sampled_from(paths))
        if draw(st.booleans()):
            return _written(_removed(value, path))
        taken = st.sampled_from([_at(value, each) for each in paths])
        return _written(_replaced(value, path, draw(st.one_of(st.sampled_from(VALUES), taken))))

    @st.composite
    def log(draw: st.DrawFn) -> list[bytes]:
        pool = draw(st.sampled_from(sessions))
        line = st.one_of(
            st.sampled_from(pool),
            mutated(pool),
            st.sampled_from(pool).flatmap(
                lambda text: st.integers(0, len(text)).map(lambda n: text[:n])
            ),
            st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"")),
        )
        order = draw(st.sampled_from(("as it is", "permuted", "joined", "made")))
        if order == "made":
            return draw(st.lists(line, max_size=16))
        lines = list(pool[:_MOST])
        if order == "joined":
            lines += draw(st.sampled_from(sessions))[:_MOST]
        if order == "permuted":
            lines = draw(st.permutations(lines))
        for _ in range(draw(st.integers(0, 3))):
            lines[draw(st.integers(0, len(lines) - 1))] = draw(line)
        return lines

    return log()


def is_object(line: bytes) -> bool | None:
    """Whether a line is a JSON object once its invalid UTF-8 is replaced; None where decoders may differ."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse)
    except RecursionError:
        return None
    except ValueError:
        return False
    return isinstance(value, dict)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _kinds(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, str) and name in ("type", "role", "status", "kind", "subtype"):
                yield each
            else:
                yield from _kinds(each)
    elif isinstance(value, list):
        for each in value[:_FEW]:
            yield from _kinds(each)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _paths(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value[:_FEW]):
            yield from _paths(each, (*path, index))


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def _replaced(value: Any, path: Sequence[str | int], other: Any) -> Any:
    if not path:
        return other
    copy, step = _copy(value), path[0]
    copy[step] = _replaced(copy[step], path[1:], other)
    return copy


def _removed(value: Any, path: Sequence[str | int]) -> Any:
    copy, step = _copy(value), path[0]
    if path[1:]:
        copy[step] = _removed(copy[step], path[1:])
    else:
        del copy[step]
    return copy


def _copy(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else list(value)


def _written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
