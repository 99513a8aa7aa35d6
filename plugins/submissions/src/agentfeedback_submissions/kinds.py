"""The shipped kinds and what their guides say of a payload: warnings only, nothing is changed. Pure.

A kind without a guide is stored all the same.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

from agentfeedback.foundation.json_text import Path
from agentfeedback_submissions.texts import token
from agentfeedback_submissions.warning import WarningList

#: Written by a self-test of the client; left out of lists and numbers unless it is asked for.
HIDDEN = "install-check"


@frozen
class Member:
    """One member of a payload. `limit` is in bytes of UTF-8, 0 for none; `items` are those of objects in an array."""

    type: Literal["text", "token", "word", "objects"] = "text"
    limit: int = 0
    words: tuple[str, ...] = ()
    items: dict[str, Member] | None = None
    #: A member of the items that no two of them may share.
    unique: str = ""
    about: str = ""


@frozen
class Guide:
    """What a payload of one kind and version holds. An `open` one may hold anything else beside it."""

    kind: str
    version: int
    members: dict[str, Member]
    recommended: tuple[str, ...] = ()
    open: bool = False


_EVIDENCE = {name: Member() for name in ("tool", "command", "error", "count", "at", "span")}
FRICTION = Guide(
    "friction",
    1,
    {
        "category": Member("token", 200, about="what kind of friction it was, in one word"),
        "details": Member(about="what happened, what was expected, what it cost"),
        "suggested_fix": Member(about="what would have prevented it"),
        "fix_status": Member(
            "word", words=("none", "proposed", "applied"), about="how far a fix has come"
        ),
        "fix_ref": Member(limit=200, about="where the fix is: a commit, a link, a path"),
        "severity": Member("word", words=("low", "medium", "high"), about="how much it cost"),
        "evidence": Member("objects", items=_EVIDENCE, about="what shows it"),
    },
    recommended=("category", "details"),
)
REVIEW = Guide(
    "review",
    1,
    {"findings": Member("objects", unique="id", about="what the review found")},
    open=True,
)
GUIDES = {(guide.kind, guide.version): guide for guide in (FRICTION, REVIEW)}


def check(record: dict[str, Any], warnings: WarningList) -> None:
    """Warn where a record's payload differs from the guide of its kind."""
    kind, version = record["kind"], record["schema_version"]
    guide = GUIDES.get((kind, version))
    if guide is not None:
        _members(record["payload"], guide.members, ("payload",), warnings, open=guide.open)
        for name in guide.recommended:
            if name not in record["payload"]:
                warnings.add("missing_recommended", ("payload", name), f"{name} is recommended")
    elif any(known == kind for known, _ in GUIDES):
        warnings.add(
            "unknown_schema_version", ("schema_version",), f"{kind} has no version {version} here"
        )
    else:
        warnings.add("no_schema", ("kind",), f"nothing is known here of the kind {kind}")


def schema(guide: Guide) -> dict[str, Any]:
    """The guide of a payload as JSON Schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{guide.kind} v{guide.version}",
        **_object(guide.members, open=guide.open),
    }


def _members(
    value: dict[str, Any],
    members: dict[str, Member],
    path: Path,
    warnings: WarningList,
    *,
    open: bool,
) -> None:
    for name, given in value.items():
        member = members.get(name)
        if member is not None:
            _member(given, member, (*path, name), warnings)
        elif not open and name not in ("moved", "context_raw", "context_overflow"):
            warnings.add("unknown_field", (*path, name), f"{name} is not a member of this kind")


def _member(value: Any, member: Member, path: Path, warnings: WarningList) -> None:
    if member.type == "objects":
        _objects(value, member, path, warnings)
    elif not isinstance(value, str):
        warnings.add("type_mismatch", path, "it is not a string")
    elif member.words and value not in member.words:
        warnings.add("out_of_range", path, f"it is not one of {', '.join(member.words)}")
    elif member.type == "token" and value != token(value):
        warnings.add("invalid_format", path, "it is not a token: lower case, - for white space")
    elif member.limit and len(value.encode()) > member.limit:
        warnings.add("too_long", path, f"it is longer than {member.limit} bytes")


def _objects(value: Any, member: Member, path: Path, warnings: WarningList) -> None:
    if not isinstance(value, list):
        warnings.add("type_mismatch", path, "it is not an array")
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        here = (*path, str(index))
        if not isinstance(item, dict):
            warnings.add("type_mismatch", here, "it is not an object")
            continue
        if member.items is not None:
            _members(item, member.items, here, warnings, open=False)
        given = item.get(member.unique)
        if isinstance(given, str):
            if given in seen:
                warnings.add(
                    f"duplicate_{member.unique}", (*here, member.unique), "another item has it too"
                )
            seen.add(given)


def _object(members: dict[str, Member], *, open: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "type": "object",
        "properties": {name: _property(member) for name, member in members.items()},
    }
    if not open:
        shown["additionalProperties"] = False
    return shown


def _property(member: Member) -> dict[str, Any]:
    about = {"description": member.about} if member.about else {}
    if member.type == "objects":
        items = _object(member.items or {}, open=member.items is None)
        return {**about, "type": "array", "items": items}
    shown: dict[str, Any] = {**about, "type": "string"}
    if member.words:
        shown["enum"] = list(member.words)
    if member.limit:
        shown["maxLength"] = member.limit
    return shown
