"""Any JSON object made into a record: inferred, normalised, and warned about, never refused. Pure.

The order of its steps is fixed, since later ones see what earlier ones moved. Only four bodies are refused (`EnvelopeRefused`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from attrs import define

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.json_text import NotJson, Number, Path, parse
from agentfeedback.scrub import cut
from agentfeedback_submissions import kinds
from agentfeedback_submissions.texts import microseconds, one_line, time_form, token, trimmed
from agentfeedback_submissions.warning import SubmissionWarning, WarningList

#: The largest body that is taken, in bytes.
BODY_LIMIT = 10_485_760
#: The members of an envelope, in the order of a record.
MEMBERS = (
    "kind",
    "schema_version",
    "key",
    "summary",
    "machine",
    "model",
    "harness",
    "project",
    "occurred_at",
    "context",
    "payload",
)
TEXTS = ("kind", "key", "summary", "machine", "model", "harness", "project", "occurred_at")
#: How many bytes of UTF-8 a text may have; others have no limit.
LIMITS = {"summary": 2000, "machine": 200, "model": 200, "harness": 200, "project": 200}
RECOMMENDED = ("summary", "machine", "model")
CONTEXT_ENTRIES = 32
CONTEXT_BYTES = 2000
_LARGEST_VERSION = 2**53 - 1


class EnvelopeRefused(Exception):
    """A body that cannot become a record; `status` is that of HTTP, `code` that of the error body."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message


@define(eq=False)
class Normalised:
    """A record's envelope: members without a value are absent; `occurred_at` is in microseconds."""

    members: dict[str, Any]
    occurred_at: int | None
    content_hash: str
    warnings: list[SubmissionWarning]


def normalise(body: bytes) -> Normalised:
    """The envelope of a body with its identity and warnings. Raises `EnvelopeRefused`."""
    if len(body) > BODY_LIMIT:
        raise EnvelopeRefused(
            413, "request_too_large", f"the body is larger than {BODY_LIMIT} bytes"
        )
    try:
        document = parse(body)
    except NotJson as error:
        raise EnvelopeRefused(400, "bad_request", f"the body is refused: {error}") from None
    if not isinstance(document.value, dict):
        raise EnvelopeRefused(400, "bad_request", "the body is not a JSON object")
    warnings = WarningList()
    for path in document.mended:
        warnings.add(
            "invalid_utf8", path, "bytes that are not Unicode text were replaced by U+FFFD"
        )
    for path in document.duplicates:
        warnings.add("duplicate_key", path, "the name is given more than once; the last one counts")
    return _Envelope(document.value, warnings).normalised()


class _Envelope:
    """One body on its way; each step is one rule."""

    def __init__(self, body: dict[str, Any], warnings: WarningList) -> None:
        self.warnings = warnings
        self.given = body
        self.record: dict[str, Any] = {}
        self.payload: dict[str, Any] = {}
        self.context: dict[str, Any] = {}
        self.occurred_at: int | None = None

    def normalised(self) -> Normalised:
        self._drop_nulls()
        self._payload()
        self._kind_and_version()
        self._texts()
        self._context()
        self._occurred_at()
        self._cap_context()
        self.record["payload"] = self.payload
        kinds.check(self.record, self.warnings)
        for name in RECOMMENDED:
            if name not in self.record:
                self.warnings.add("missing_recommended", (name,), f"{name} is recommended")
        ordered = {name: self.record[name] for name in MEMBERS if name in self.record}
        return Normalised(ordered, self.occurred_at, content_hash(ordered), self.warnings.all())

    def _drop_nulls(self) -> None:
        for name in [name for name, value in self.given.items() if value is None]:
            del self.given[name]
            self.warnings.add("coerced", (name,), "null counts as absent")

    def _payload(self) -> None:
        inferred = "payload" not in self.given
        payload = self.given.pop("payload", {})
        if isinstance(payload, dict):
            self.payload = payload
        else:
            self.payload = {"value": payload}
            self.warnings.moved(("payload",), ("payload", "value"))
            self.warnings.add(
                "payload_wrapped",
                ("payload", "value"),
                "a payload that is not an object was wrapped",
            )
        for name in sorted(name for name in self.given if name not in MEMBERS):
            path = self._move((name,), name, self.given.pop(name))
            self.warnings.add(
                "moved_to_payload", path, f"{name} is not a member of the envelope and was moved"
            )
        if inferred:
            self.warnings.add("payload_inferred", ("payload",), "there was no payload")

    def _kind_and_version(self) -> None:
        kind = self.given.get("kind", "")
        if isinstance(kind, str) and not token(kind):
            self.given["kind"] = "unknown"
            self.warnings.add("missing_kind", ("kind",), "no kind is given; it is unknown")
        version = self.given.pop("schema_version", None)
        number = _version(version)
        self.record["schema_version"] = number or 1
        if number is None:
            self.warnings.add(
                "schema_version_defaulted", ("schema_version",), "no version is given; it is 1"
            )

    def _texts(self) -> None:
        for name in TEXTS:
            if name not in self.given:
                continue
            value = self.given.pop(name)
            if not isinstance(value, str):
                value = canonical(value).decode()
                self.warnings.add("coerced", (name,), f"{name} is not a string and was made one")
            value = token(value) if name in ("kind", "harness") else trimmed(value)
            if name == "summary":
                value = one_line(value)
            if name in LIMITS:
                value = self._cut(value, LIMITS[name], (name,))
            if value:
                self.record[name] = value

    def _context(self) -> None:
        context = self.given.pop("context", {})
        if isinstance(context, dict):
            self.context = context
            return
        path = self._move(("context",), "context_raw", context)
        self.warnings.add("moved_to_payload", path, "a context that is not an object was moved")

    def _occurred_at(self) -> None:
        text = self.record.pop("occurred_at", None)
        if text is None:
            return
        self.occurred_at = microseconds(text)
        if self.occurred_at is not None:
            self.record["occurred_at"] = time_form(self.occurred_at)
            return
        self.context["occurred_at_raw"] = text
        path = ("context", "occurred_at_raw")
        self.warnings.moved(("occurred_at",), path)
        self.warnings.add("invalid_format", path, "occurred_at is not an RFC 3339 time")

    def _cap_context(self) -> None:
        kept: dict[str, str] = {}
        for name in sorted(self.context):
            value = self.context[name]
            path = ("context", name)
            if value is None:
                self.warnings.add("coerced", path, "null counts as absent")
                continue
            if value == "":
                continue
            if len(kept) == CONTEXT_ENTRIES:
                self._overflow(name, value)
                continue
            if not isinstance(value, str):
                value = canonical(value).decode()
                self.warnings.add("coerced", path, "the value is not a string and was made one")
            kept[name] = self._cut(value, CONTEXT_BYTES, path)
        if kept:
            self.record["context"] = kept

    def _overflow(self, name: str, value: Any) -> None:
        overflow = self.payload.get(_OVERFLOW)
        if not isinstance(overflow, _Overflow):
            if _OVERFLOW in self.payload:
                self._move(("payload", _OVERFLOW), _OVERFLOW, overflow)
            overflow = self.payload[_OVERFLOW] = _Overflow()
        overflow[name] = value
        path = ("payload", _OVERFLOW, name)
        self.warnings.moved(("context", name), path)
        self.warnings.add(
            "moved_to_payload", path, f"the context has more than {CONTEXT_ENTRIES} entries"
        )

    def _move(self, old: Path, name: str, value: Any) -> Path:
        """Put a value into the payload under a name, or under `moved` where the name is taken."""
        path: Path = ("payload", name)
        place = self.payload
        if name in place:
            moved = place.setdefault("moved", {})
            if not isinstance(moved, dict):
                moved = place["moved"] = {"value": moved}
                self.warnings.moved(("payload", "moved"), ("payload", "moved", "value"))
            place, unique, number = moved, name, 2
            while unique in place:
                unique, number = f"{name}_{number}", number + 1
            name, path = unique, ("payload", "moved", unique)
        place[name] = value
        self.warnings.moved(old, path)
        return path

    def _cut(self, text: str, limit: int, path: Path) -> str:
        kept = cut(text, limit)
        if kept != text:
            self.warnings.add("truncated", path, f"more than {limit} bytes were cut off")
        return kept


class _Overflow(dict[str, Any]):
    """The context entries beyond the cap; a class of its own sets it apart from a member of that name."""


_OVERFLOW = "context_overflow"


def _version(value: Any) -> int | None:
    # The length first: `int` refuses thousands of digits with an error of its own.
    if not isinstance(value, Number) or not value.text.isdigit() or value.text[0] == "0":
        return None
    if len(value.text) > len(str(_LARGEST_VERSION)) or int(value.text) > _LARGEST_VERSION:
        return None
    return int(value.text)


#: The members a submission's identity is made of; `key`, `occurred_at` and `context` are outside it.
IDENTITY = (
    "kind",
    "schema_version",
    "machine",
    "model",
    "harness",
    "project",
    "summary",
    "payload",
)


def content_hash(record: Mapping[str, Any]) -> str:
    """Lower-case SHA-256 hex of the canonical JSON of the members that make a record's identity."""
    return hashlib.sha256(
        canonical({name: record[name] for name in IDENTITY if name in record})
    ).hexdigest()
