"""Any JSON object made into a record: inferred, normalised, and warned about, never refused. Pure.

The order of its steps is fixed, since later ones see what earlier ones moved. Only four bodies are refused (`EnvelopeRefused`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from attrs import define

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.json_text import Document, NotJson, Number, Path, parse
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
    return envelope_of(document)


def envelope_of(document: Document) -> Normalised:
    """The envelope of an object that was read; its tree is taken apart."""
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
        #: Members of the payload that these rules put there: no guide warns of them.
        self.placed: set[str] = set()

    def normalised(self) -> Normalised:
        self._drop_nulls()
        self._payload()
        named = self._kind()
        self._version()
        self._texts()
        self._context()
        self._occurred_at()
        self._cap_context()
        self.record["payload"] = self.payload
        if named:
            kinds.check(self.record, self.warnings, self.placed)
        for name in RECOMMENDED:
            if name not in self.record:
                self.warnings.add("missing_recommended", (name,), f"{name} is recommended")
        ordered = {name: self.record[name] for name in MEMBERS if name in self.record}
        return Normalised(ordered, self.occurred_at, content_hash(ordered), self.warnings.all())

    def _drop_nulls(self) -> None:
        for name in MEMBERS:
            if name in self.given and self.given[name] is None:
                del self.given[name]
                if name != "kind":  # what is said of a missing kind says it all
                    self.warnings.add("coerced", (name,), "null counts as absent")

    def _payload(self) -> None:
        inferred = "payload" not in self.given
        payload = self.given.pop("payload", {})
        if isinstance(payload, dict):
            self.payload = payload
        else:
            self.payload = {"value": payload}
            self.placed.add("value")
            self.warnings.moved(("payload",), ("payload", "value"))
            self.warnings.add(
                "payload_wrapped", ("payload",), "a payload that is not an object was wrapped"
            )
        for name in sorted(name for name in self.given if name not in MEMBERS):
            path = self._move(name, self.given.pop(name))
            self.warnings.moved((name,), path)
            self.warnings.add(
                "moved_to_payload", path, f"{name} is not a member of the envelope and was moved"
            )
        if inferred:
            self.warnings.add("payload_inferred", ("payload",), "there was no payload")

    def _kind(self) -> bool:
        """Settle the kind; whether one was given."""
        kind = self.given.get("kind")
        if isinstance(kind, str) and token(kind):
            return True
        self.given["kind"] = "unknown"
        self.warnings.replaced(("kind",))
        self.warnings.add("missing_kind", ("kind",), "no kind is given; it is unknown")
        return False

    def _version(self) -> None:
        self.record["schema_version"] = 1
        if "schema_version" not in self.given:
            return
        number = _version(self.given.pop("schema_version"))
        if number is not None:
            self.record["schema_version"] = number
            return
        self.warnings.became_text(("schema_version",))
        self.warnings.add(
            "schema_version_defaulted", ("schema_version",), "it is not a version; it is 1"
        )

    def _texts(self) -> None:
        for name in TEXTS:
            if name not in self.given:
                continue
            value = self._text(self.given.pop(name), (name,))
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
        path = self._move("context_raw", context)
        self.warnings.moved(("context",), path)
        self.warnings.add("moved_to_payload", path, "a context that is not an object was moved")

    def _occurred_at(self) -> None:
        text = self.record.pop("occurred_at", None)
        if text is None:
            return
        self.occurred_at = microseconds(text)
        if self.occurred_at is not None:
            self.record["occurred_at"] = time_form(self.occurred_at)
            return
        path = ("context", "occurred_at_raw")
        if "occurred_at_raw" in self.context:
            self._replaced(path)
        self.context["occurred_at_raw"] = text
        self.warnings.moved(("occurred_at",), path)
        self.warnings.add("invalid_format", path, "occurred_at is not an RFC 3339 time")

    def _cap_context(self) -> None:
        names = sorted(self.context)
        kept = {}
        for name in names[:CONTEXT_ENTRIES]:
            path = ("context", name)
            kept[name] = self._cut(self._text(self.context[name], path), CONTEXT_BYTES, path)
        if kept:
            self.record["context"] = kept
        if over := names[CONTEXT_ENTRIES:]:
            place = self._move("context_overflow", {name: self.context[name] for name in over})
            for name in over:
                self.warnings.moved(("context", name), (*place, name))
            message = f"the context has more than {CONTEXT_ENTRIES} entries"
            self.warnings.add("truncated", place, message)

    def _move(self, name: str, value: Any) -> Path:
        """Put a value into the payload under a name, or into its `moved` where the name is taken."""
        if name not in self.payload:
            self.payload[name] = value
            self.placed.add(name)
            return ("payload", name)
        if "moved" not in self.payload:
            self.payload["moved"] = {}
            self.placed.add("moved")
        moved = self.payload["moved"]
        if not isinstance(moved, dict):
            self.payload["moved"] = moved = {"value": moved}
            self.warnings.moved(("payload", "moved"), ("payload", "moved", "value"))
            self.warnings.add(
                "payload_wrapped", ("payload", "moved"), "what is not an object was wrapped"
            )
        path: Path = ("payload", "moved", name)
        if name in moved:
            self._replaced(path)
        moved[name] = value
        return path

    def _replaced(self, path: Path) -> None:
        self.warnings.replaced(path)
        self.warnings.add("duplicate_key", path, "the value that was here was replaced")

    def _text(self, value: Any, path: Path) -> str:
        if isinstance(value, str):
            return value
        self.warnings.became_text(path)
        self.warnings.add("coerced", path, "it is not a string and was made one")
        return canonical(value).decode()

    def _cut(self, text: str, limit: int, path: Path) -> str:
        kept = cut(text, limit)
        if kept != text:
            self.warnings.add("truncated", path, f"more than {limit} bytes were cut off")
        return kept


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
