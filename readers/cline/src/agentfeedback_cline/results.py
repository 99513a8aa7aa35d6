"""How a call ended, by what its `tool_result` holds (README, "Results"). Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentfeedback.reading import Raw, Status, decoder, loads, value
from agentfeedback_cline.lines import Item

#: The end of the error of a call that a person, or the want of one, did not let run.
_REFUSED = " -- NOT a tool or system failure. Clarify with user before proceeding."
_ABORTED = "Command failed: Command was aborted"
_EXITED = re.compile(r"Command exited with code (-?\d{1,19})", re.ASCII)
#: The first line of what such a command printed repeats it.
_REPEATED = re.compile(r"\[Command exited with code -?\d{1,19}\]\n*", re.ASCII)


class Outcome(NamedTuple):
    status: Status
    text: str
    exit_code: int | None = None


def outcome(content: Raw, *, rejected: bool) -> Outcome:
    """The outcome of a call.

    `rejected` is `is_error`: the call did not run. Else `content` is a list with what became of each
    part of the call, or the JSON text of one such object; any other text is an answer.
    """
    text = value(content, str)
    if rejected:
        told = decoder(Item)(text.encode("utf-8", "surrogatepass")) if text is not None else None
        error = told.error if told is not None and told.error is not None else text or ""
        return Outcome("denied" if error.endswith(_REFUSED) else "error", error)
    failed = [item for item in _items(content, text) if item.success is False]
    if not failed:
        return Outcome("ok", text or "")
    shown = "\n".join(_shown(item) for item in failed)
    if any(item.error == _ABORTED for item in failed):
        return Outcome("interrupted", shown)
    codes = (_EXITED.fullmatch(item.error or "") for item in failed)
    code = next((int(found[1]) for found in codes if found), None)
    return Outcome("error", shown, code if code and -(1 << 63) <= code < 1 << 63 else None)


def _items(content: Raw, text: str | None) -> list[Item]:
    if text is None:
        return value(content, list[Item]) or []
    if not text.startswith("{") or not isinstance(
        loads(text.encode("utf-8", "surrogatepass")), dict
    ):
        return []
    item = decoder(Item)(text.encode("utf-8", "surrogatepass"))
    return [item] if item is not None else []


def _shown(item: Item) -> str:
    printed = _REPEATED.sub("", item.result or "", count=1) if item.result else ""
    return printed.strip("\n") or item.error or ""
