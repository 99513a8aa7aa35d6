"""Format drift: which record types and fields of logs their reader does not know, by count and never by content.

A reader says what it knows (`Known`), a `Survey` counts what else the lines hold. Names come from
the log and could be content: one is shown only where it looks like a name of a format, else it is
counted as `<other>`. Pure; the lines are those of a read that passed the policy (`drift_run`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from attrs import field, frozen

from agentfeedback.reading.record import loads
from agentfeedback.wire import doctor as wire_doctor

#: Stands for a name that does not look like one of a format, and for names beyond the first `DISTINCT`.
OTHER = "<other>"
#: Stands for the type of a record that has none.
NONE = "<none>"
#: The most different names, types or versions of one harness that are told apart.
DISTINCT = 200

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_.$-]{0,47}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,31}")
#: An identifier of a session or a call has many digits, a member's name has few.
_MOST_DIGITS = 4

K = TypeVar("K", bound=Hashable)


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _words_of_each(members: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {name: _words(words) for name, words in members.items()}


@frozen(eq=False)
class Fields:
    """The members of a JSON object that a reader knows.

    `names`: all of them, separated by white space. `inside`: what is known of the object that is a
    member, or of each object of the array that is. `by`: the member whose value is the object's
    type; `kinds` then holds by type what is known beside `names`, under `""` for objects without
    one. Members that are not in `inside` are never looked into: what keys they have may be content.
    `open`: other members than `names` may be content too, and are not counted.

    `words`: members that hold one of the harness's own words, with those known, separated likewise;
    another word is counted under the member's path, and shown where it looks like a name of a format.
    """

    names: frozenset[str] = field(default="", converter=_words)
    inside: Mapping[str, Fields] = field(factory=dict)
    by: str = ""
    kinds: Mapping[str, Fields] = field(factory=dict)
    open: bool = False
    words: Mapping[str, frozenset[str]] = field(factory=dict, converter=_words_of_each)


@frozen(eq=False)
class Known:
    """What a reader knows of its format.

    `verified`: the harness versions it was verified with. `version`: where a record holds the
    harness's version, as member names joined by dots; empty where logs do not record it. `texts`:
    makes what is shown the lines of one session in turn, and names (as a type, never with content)
    a text of the harness's own that the line holds and no rule of the reader knows; else it gives
    an empty string.
    """

    verified: tuple[str, ...]
    records: Fields
    version: str = ""
    texts: Callable[[], Callable[[bytes], str]] | None = None


class Survey:
    """Counts over lines: versions, and the types and fields that `known` does not hold."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._version = known.version.split(".") if known.version else []
        self._unknown_text = known.texts() if known.texts is not None else None
        self.sessions = 0
        self.records = 0
        #: Lines that are not JSON objects.
        self.unparsed = 0
        #: Sessions by harness version; a session may have been written by several.
        self.versions: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.fields: Counter[tuple[str, str]] = Counter()

    def see(self, lines: Iterable[bytes]) -> None:
        """Count some complete lines of a session."""
        for line in lines:
            value = loads(line)
            if not isinstance(value, dict):
                self.unparsed += 1
                continue
            self.records += 1
            if self._version:
                self._see_version(value)
            self._object(value, self._known.records, "", "")
            if self._unknown_text is not None and (name := self._unknown_text(line)):
                _count(self.types, name, OTHER)

    def add(self, session: Survey) -> None:
        """Take in the survey of one session."""
        self.sessions += 1
        self.records += session.records
        self.unparsed += session.unparsed
        for version in session.versions:
            _count(self.versions, version, OTHER)
        for type, count in session.types.items():
            _count(self.types, type, OTHER, count)
        for named, count in session.fields.items():
            _count(self.fields, named, (OTHER, OTHER), count)

    def report(
        self, harness: str, text: Callable[[str], str], skipped: Mapping[str, int]
    ) -> wire_doctor.Drift:
        """What is printed. `text` scrubs, `skipped` are the sessions that were not read, by state."""
        versions = _scrubbed(self.versions, text)
        types = _scrubbed(self.types, text)
        fields: Counter[tuple[str, str]] = Counter()
        for (type, name), count in self.fields.items():
            fields[_safe(type, text), _safe(name, text)] += count
        return wire_doctor.Drift(
            harness,
            described=True,
            versioned=bool(self._version),
            verified=list(self._known.verified),
            versions=[
                wire_doctor.SeenVersion(version, count, version in self._known.verified)
                for version, count in sorted(versions.items(), key=lambda item: _order(item[0]))
            ],
            sessions=self.sessions,
            skipped=dict(sorted(skipped.items())),
            records=self.records,
            unparsed=self.unparsed,
            unknown_types=[
                wire_doctor.UnknownType(type, count) for type, count in _most_first(types)
            ],
            unknown_fields=[
                wire_doctor.UnknownField(type, name, count)
                for (type, name), count in _most_first(fields)
            ],
        )

    def _see_version(self, value: Any) -> None:
        for name in self._version:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str):
            version = value if _VERSION.fullmatch(value) else OTHER
            if version not in self.versions:
                self.versions[version] = 1

    def _object(self, value: dict[str, Any], known: Fields, type: str, path: str) -> None:
        rest = value.keys() - known.names
        levels = [known]
        while known.by:
            kind = value.get(known.by, "")
            rest.discard(known.by)
            more = known.kinds.get(kind) if isinstance(kind, str) else None
            shown = (kind if more is not None else _name(kind)) or NONE
            if shown != NONE or more is None:
                type = f"{type}/{shown}" if type else shown
            if more is None:
                _count(self.types, type, OTHER)
                return
            known = more
            rest -= known.names
            levels.append(known)
        if not any(level.open for level in levels):
            for name in rest:
                if not any(name in level.inside for level in levels):
                    self._field(type, path + _name(name))
        for level in levels:
            self._words(value, level, type, path)
            for name, within in level.inside.items():
                member = value.get(name)
                if isinstance(member, dict):
                    self._object(member, within, type, f"{path}{name}.")
                elif isinstance(member, list):
                    for item in member:
                        if isinstance(item, dict):
                            self._object(item, within, type, f"{path}{name}.")

    def _words(self, value: dict[str, Any], known: Fields, type: str, path: str) -> None:
        """Count the harness's own words that the reader does not know."""
        for name, words in known.words.items():
            word = value.get(name)
            if isinstance(word, str) and word not in words:
                self._field(type, f"{path}{name}={_name(word) or NONE}")

    def _field(self, type: str, name: str) -> None:
        _count(self.fields, (type or NONE, name), (OTHER, OTHER))


def _name(name: object) -> str:
    """A name of a log as far as it may be shown; empty where there is none."""
    if not isinstance(name, str):
        return OTHER
    digits = sum(map(str.isdigit, name))
    if name and not (_NAME.fullmatch(name) and digits <= _MOST_DIGITS):
        return OTHER
    return name


def _count(counter: Counter[K], key: K, other: K, count: int = 1) -> None:
    counter[key if key in counter or len(counter) < DISTINCT else other] += count


def _safe(name: str, text: Callable[[str], str]) -> str:
    return name if text(name) == name else OTHER


def _scrubbed(counter: Counter[str], text: Callable[[str], str]) -> Counter[str]:
    safe: Counter[str] = Counter()
    for name, count in counter.items():
        safe[_safe(name, text)] += count
    return safe


def _most_first(counter: Counter[K]) -> list[tuple[K, int]]:
    return sorted(counter.items(), key=lambda item: (-item[1], item[0]))


def _order(version: str) -> list[tuple[int, str]]:
    """Versions in the order of their numbers."""
    return [
        (int(part), "") if part.isdecimal() and part.isascii() else (-1, part)
        for part in re.split(r"[.+_-]", version)
    ]
