"""One body out of flags, JSON and collected facts. Pure.

Members that nobody overrides keep their bytes: numbers, escapes, white space and what is not UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from agentfeedback.foundation.canonical import quoted, text
from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.json_text import NotJson, TooDeep, members, parse, pointer, text_bytes
from agentfeedback.scrub import Scrubber
from agentfeedback_submissions.envelope import BODY_LIMIT, MEMBERS
from agentfeedback_submissions.kinds import GUIDES
from agentfeedback_submissions.texts import lowered, token, trimmed
from agentfeedback_submissions.warning import SubmissionWarning
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.filing.request import Request

#: The origin of a report filed from a digest; it turns scrubbing on.
SESSION_SCAN = "session-scan"


@frozen(eq=False)
class FilingFacts:
    """What is known beside the request. `defaults` and `context` give way to its JSON, `over` and `over_context` do not.

    `without` are members that must not be sent; `drop` are context keys only a flag may send.
    `now` is the time of the filing as `occurred_at` has it, `new_key` a key for a report without one.
    """

    now: str
    new_key: str
    defaults: Mapping[str, str] = field(factory=dict)
    context: Mapping[str, str] = field(factory=dict)
    over: Mapping[str, str] = field(factory=dict)
    over_context: Mapping[str, str] = field(factory=dict)
    without: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class Unsendable(Exception):
    """A body that would be refused wherever it is sent; `reason` is a word of the outcome line."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message


def build(request: Request, facts: FilingFacts, scrubber: Callable[[], Scrubber]) -> Body:
    """The body of a request; `scrubber` is asked for only where something is scrubbed.

    Raises `UsageError` for JSON that cannot be used, `Unsendable` for a body that would be refused.
    """
    merge = _Merge(request, facts)
    merge.members()
    merge.payload()
    merge.context()
    merge.require_summary()
    if request.scrub or request.context_from is not None or merge.is_scan():
        merge.scrub(scrubber())
    key = merge.key()
    data = text_bytes(_object({name: merge.raw[name] for name in _order(merge.raw)}))
    if len(data) > BODY_LIMIT:
        raise Unsendable("body_too_large", f"the body is larger than {BODY_LIMIT} bytes")
    session = merge.entries.get("session_id")
    session_id = session if isinstance(session, str) else ""
    # The kind as it is sent: a secret in it was replaced, too.
    kind = token(_value(merge.raw["kind"]))
    return Body(data, kind, key, tuple(merge.warnings), session_id)


class _Merge:
    """The members as JSON texts, by name."""

    def __init__(self, request: Request, facts: FilingFacts) -> None:
        self.request = request
        self.facts = facts
        self.warnings: list[SubmissionWarning] = []
        #: Where a name was given more than once.
        self.twice: set[tuple[str, ...]] = set()
        #: The entries of the merged context, as far as it was merged.
        self.entries: dict[str, Any] = {}
        self.raw: dict[str, str] = {}
        if request.json is not None:
            self.raw = self._read(request.json)

    def members(self) -> None:
        request, facts = self.request, self.facts
        self._set("kind", request.kind)
        for name in request.members:
            self._set(name, request.members[name])
        if request.schema_version is not None:
            self.raw["schema_version"] = str(request.schema_version)
        elif self._blank("schema_version") and (token(request.kind), 1) in GUIDES:
            self.raw["schema_version"] = "1"
        for name in facts.without:
            self.raw.pop(name, None)
        for name in facts.over:
            self._set(name, facts.over[name])
        for name, value in (*facts.defaults.items(), ("occurred_at", facts.now)):
            if value and name not in facts.without and self._blank(name):
                self._set(name, value)

    def payload(self) -> None:
        flags = self.request.payload
        if flags:
            for name in flags:
                self.raw.pop(name, None)
            payload = self._members_of("payload")
            if payload is None:
                raise UsageError(
                    "the payload on stdin is not an object", "leave out the flags that add to it"
                )
            payload.update((name, quoted(value)) for name, value in flags.items())
            self.raw["payload"] = _object(payload)
        elif self._null("payload") and all(name in MEMBERS for name in self.raw):
            self.raw["payload"] = "{}"

    def context(self) -> None:
        facts = self.facts
        flags = dict(self.request.context)
        given = self._members_of("context")
        if given is None:
            if not (facts.context or facts.over_context or flags):
                return
            raise UsageError(
                "the context on stdin is not an object, so nothing can be added to it",
                "pass an object of strings",
            )
        merged = {name: quoted(value) for name, value in facts.context.items()} | given
        for name in facts.drop:
            merged.pop(name, None)
        for name, value in (*facts.over_context.items(), *flags.items()):
            merged[name] = quoted(value)
        if merged != given:
            self.raw["context"] = _object(merged)
        self.entries = self._values(merged)

    def require_summary(self) -> None:
        if token(self.request.kind) == "friction" and self._blank("summary"):
            raise UsageError("a friction needs a summary", "pass --summary, or give it on stdin")

    def is_scan(self) -> bool:
        origin = self.entries.get("origin")
        return isinstance(origin, str) and lowered(trimmed(origin)) == SESSION_SCAN

    def scrub(self, scrubber: Scrubber) -> None:
        for name in list(self.raw):
            before = {name: _value(self.raw[name])}
            after = scrubber.tree(before)
            if after == before:
                continue
            # A plugin's format may take a secret out of a name, too.
            ((new_name, value),) = after.items()
            del self.raw[name]
            self.raw[new_name] = text(value)
            path = (new_name,) if new_name in MEMBERS else ("payload", new_name)
            message = f"secrets in {new_name} were replaced"
            self.warnings.append(SubmissionWarning("scrubbed", pointer(path), message))

    def key(self) -> str:
        if self._blank("key"):
            self._set("key", self.facts.new_key)
        key = _value(self.raw["key"])
        if not isinstance(key, str):
            raise Unsendable("invalid_body", "the key is not a string")
        return trimmed(key)

    def _read(self, json: bytes) -> dict[str, str]:
        if len(json) > BODY_LIMIT:
            raise Unsendable("body_too_large", f"stdin holds more than {BODY_LIMIT} bytes")
        try:
            found = members(json)
        except TooDeep as error:
            raise Unsendable("rejected", str(error)) from None
        except NotJson as error:
            raise UsageError(f"stdin is not one JSON object: {error}", "pass one") from None
        if found is None:
            raise UsageError("stdin is not one JSON object", "pass one")
        return self._last(found, ())

    def _members_of(self, name: str) -> dict[str, str] | None:
        """The members of an object that is a member; empty where it is missing, None where it is not an object."""
        if self._null(name):
            return {}
        found = members(text_bytes(self.raw[name]))
        return None if found is None else self._last(found, (name,))

    def _last(self, found: list[tuple[str, str]], above: tuple[str, ...]) -> dict[str, str]:
        """By name, the last of each; what is left out here the receiver cannot warn about."""
        kept: dict[str, str] = {}
        for name, raw in found:
            if kept.pop(name, None) is not None:
                path = (*above, name) if above or name in MEMBERS else ("payload", name)
                if path not in self.twice:
                    self.twice.add(path)
                    message = "the name is given more than once; the last one counts"
                    self.warnings.append(SubmissionWarning("duplicate_key", pointer(path), message))
            kept[name] = raw
        return kept

    def _values(self, raw: Mapping[str, str]) -> dict[str, Any]:
        return {name: _value(value) for name, value in raw.items()}

    def _set(self, name: str, value: str) -> None:
        self.raw[name] = quoted(value)

    def _null(self, name: str) -> bool:
        return self.raw.get(name, "null") == "null"

    def _blank(self, name: str) -> bool:
        if self._null(name):
            return True
        value = _value(self.raw[name])
        return isinstance(value, str) and not trimmed(value)


def _value(raw: str) -> Any:
    return parse(text_bytes(raw)).value


def _object(raw: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{quoted(name)}:{value}" for name, value in raw.items()) + "}"


def _order(raw: Mapping[str, str]) -> list[str]:
    known = [name for name in MEMBERS if name in raw]
    return known + [name for name in raw if name not in MEMBERS]
