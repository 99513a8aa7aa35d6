"""The shipped kinds and what their guides say of a payload: warnings only, nothing is refused. Pure.

A kind without a guide is stored all the same.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from attrs import field, frozen

from agentfeedback.foundation.json_text import Number, Path
from agentfeedback_submissions.texts import token
from agentfeedback_submissions.warning import WarningList

#: Written by a self-test of the client. Commands and tools leave it out of lists and numbers, unless a kind is named.
HIDDEN = "install-check"


@frozen
class Member:
    """One member of a payload.

    `limit` is in bytes of UTF-8, 0 for none, and a `token` has at least one. `least` and `most` bound
    a number, or how many items an array of `objects` has. `items` are the members of an object, or
    of each object of an array; `recommended` are those of them that should not be missing.
    """

    type: Literal["text", "token", "word", "number", "integer", "object", "objects"] = "text"
    limit: int = 0
    least: int | None = None
    most: int | None = None
    words: tuple[str, ...] = ()
    items: dict[str, Member] = field(factory=dict)
    recommended: tuple[str, ...] = ()
    #: A member of the items that no two of them may share.
    unique: str = ""
    about: str = ""


@frozen
class Guide:
    """What a payload of one kind and version holds."""

    kind: str
    version: int
    members: dict[str, Member]
    recommended: tuple[str, ...] = ()


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
_COUNT = Member("integer", least=0)
_REVIEWER = {
    "slot": Member(limit=200),
    "model": Member(limit=200),
    "status": Member(limit=200),
    "duration_s": Member("number", least=0),
    "bytes": _COUNT,
    "valid": _COUNT,
    "invalid": _COUNT,
    "output": Member(),
    "score": Member("number", least=1, most=5),
    "note": Member(limit=4000),
}
REVIEW = Guide(
    "review",
    1,
    {
        "skill": Member(limit=200, about="what was followed"),
        "prompt": Member(about="what the reviewers were asked"),
        "target": Member(
            "object",
            items={"ref": Member(), "pr": Member(), "diff_sha": Member()},
            about="what was reviewed",
        ),
        "grader": Member(
            "object", items={"model": Member(), "session": Member()}, about="who gave the scores"
        ),
        "reviewers": Member(
            "objects",
            least=1,
            most=100,
            items=_REVIEWER,
            recommended=("slot", "model", "status"),
            unique="slot",
            about="what each reviewer did",
        ),
    },
    recommended=("skill", "reviewers"),
)
GUIDES = {(guide.kind, guide.version): guide for guide in (FRICTION, REVIEW)}


def check(record: dict[str, Any], warnings: WarningList, placed: Collection[str] = ()) -> None:
    """Warn where a record's payload differs from the guide of its kind.

    Tokens of the payload get their one form, without a word. `placed` are its members that the
    producer did not put there.
    """
    kind, version = record["kind"], record["schema_version"]
    guide = GUIDES.get((kind, version))
    if guide is not None:
        whole = Member("object", items=guide.members, recommended=guide.recommended)
        _object(record["payload"], whole, ("payload",), warnings, placed)
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
        **_shape(guide.members),
    }


def _object(
    value: dict[str, Any],
    member: Member,
    path: Path,
    warnings: WarningList,
    placed: Collection[str] = (),
) -> None:
    for name, given in value.items():
        known = member.items.get(name)
        if known is not None:
            if known.type == "token" and isinstance(given, str):
                value[name] = given = token(given)
            _member(given, known, (*path, name), warnings)
        elif name not in placed:
            warnings.add("unknown_field", (*path, name), f"{name} is not a member of this kind")
    for name in member.recommended:
        if name not in value:
            warnings.add("missing_recommended", (*path, name), f"{name} is recommended")


def _member(value: Any, member: Member, path: Path, warnings: WarningList) -> None:
    problem = _misfit(value, member)
    if problem:
        warnings.add("type_mismatch", path, problem)
    elif member.type == "object":
        _object(value, member, path, warnings)
    elif member.type == "objects":
        _objects(value, member, path, warnings)
    elif member.type in ("number", "integer"):
        _in_range(_float(value), member, path, warnings)
    elif member.words:
        if value not in member.words:
            warnings.add("out_of_range", path, f"it is not one of {', '.join(member.words)}")
    elif member.type == "token" and not value:
        warnings.add("too_short", path, "it is empty")
    elif member.limit and len(value.encode()) > member.limit:
        warnings.add("too_long", path, f"it is longer than {member.limit} bytes")


def _misfit(value: Any, member: Member) -> str:
    """Why a value is not of a member's type; empty where it is."""
    if member.type == "objects":
        return "" if isinstance(value, list) else "it is not an array"
    if member.type == "object":
        return "" if isinstance(value, dict) else "it is not an object"
    if member.type == "number":
        return "" if isinstance(value, Number) else "it is not a number"
    if member.type == "integer":
        whole = isinstance(value, Number) and not _float(value) % 1
        return "" if whole else "it is not a whole number"
    return "" if isinstance(value, str) else "it is not a string"


def _float(value: Number) -> float:
    # A number beyond all floats is whole, and beyond every bound as well.
    return max(-1e308, min(1e308, float(value.text)))


def _in_range(number: float, member: Member, path: Path, warnings: WarningList) -> None:
    if member.least is not None and number < member.least:
        warnings.add("out_of_range", path, f"it is less than {member.least}")
    elif member.most is not None and number > member.most:
        warnings.add("out_of_range", path, f"it is more than {member.most}")


def _objects(value: list[Any], member: Member, path: Path, warnings: WarningList) -> None:
    _in_range(len(value), member, path, warnings)
    seen: set[str] = set()
    for index, item in enumerate(value):
        here = (*path, str(index))
        if not isinstance(item, dict):
            warnings.add("type_mismatch", here, "it is not an object")
            continue
        _object(item, member, here, warnings)
        given = item.get(member.unique)
        if isinstance(given, str):
            if given in seen:
                warnings.add(f"duplicate_{member.unique}", here, "an earlier item has it too")
            seen.add(given)


def _shape(members: dict[str, Member]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _property(member) for name, member in members.items()},
        "additionalProperties": False,
    }


def _property(member: Member) -> dict[str, Any]:
    about = {"description": member.about} if member.about else {}
    if member.type == "object":
        return {**about, **_shape(member.items)}
    if member.type == "objects":
        shown = {**about, "type": "array", "items": _shape(member.items)}
        bounds = {"minItems": member.least, "maxItems": member.most}
    elif member.type in ("number", "integer"):
        shown = {**about, "type": member.type}
        bounds = {"minimum": member.least, "maximum": member.most}
    else:
        shown = {**about, "type": "string"}
        if member.words:
            shown["enum"] = list(member.words)
        bounds = {
            "minLength": 1 if member.type == "token" else None,
            "maxLength": member.limit or None,
        }
    return {**shown, **{name: bound for name, bound in bounds.items() if bound is not None}}
