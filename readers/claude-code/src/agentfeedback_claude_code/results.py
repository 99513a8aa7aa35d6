"""What a tool result says of its call: the harness's own fields first, then its fixed texts. Pure.

The texts are matched from the start of the result, never within it: what a command printed is not
the harness's word.
"""

from __future__ import annotations

import re

from agentfeedback.teller import Status

from .lines import Line, Outcome

#: What the transcript says for a call the user refused or broke off.
REJECTED = "User rejected tool use"
#: The text the model is told of it.
REFUSAL = "The user doesn't want to proceed with this tool use"
#: The start of a `user` line, and up to 2.0.0 of a result, that an interrupt left behind.
INTERRUPT = "[Request interrupted by user"

_AGENT_TOOLS = frozenset({"Agent", "Task"})
_AGENT_DENIED = re.compile(r"Agent type '.*?' has been denied by permission rule", re.DOTALL)

#: Denials by their start. `{tool}` stands for the name of the call's tool.
_DENIED_STARTS = (
    REFUSAL,
    "Permission to use {tool} has been denied",
    "PreToolUse:{tool} hook error: ",
    "Auto mode is unavailable: ",
    "<tool_use_error>File is in a directory that is denied by your permission settings.",
)
_DENIED_TEXTS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"This command requires approval\Z",
        r"Permission to .+ has been denied\.\Z",
        r"Claude requested permissions to .+, but you haven't granted it yet\.\Z",
        r"Agent type .*?has been denied by permission rule",
        r"\S+ in '[^\n]*?' (?:was blocked\. For security, |needs approval\. )",
    )
)
_EXIT_CODE = re.compile(r"Exit code (-?\d{1,10})[^\S\n]*(?:\n|\Z)", re.ASCII)


def was_interrupted(line: Line) -> bool:
    """Whether the tool itself recorded that it was interrupted, whatever the result says."""
    return isinstance(line.tool_use_result, Outcome) and bool(line.tool_use_result.interrupted)


def failure_of(line: Line, text: str, tool: str) -> Status:
    """The status of a call whose result is an error or interrupted, by the first rule that applies.

    `text` is the result's text, `tool` the name of the call's tool (README, "Results").
    """
    if was_interrupted(line):
        return "interrupted"
    outcome = line.tool_use_result
    kind = line.tool_denial_kind
    decision = line.permission_decision.decision if line.permission_decision else None
    if kind in ("interrupted", "cancelled"):
        return "interrupted"
    if (
        kind == "user-rejected"
        and outcome == REJECTED
        and not line.tool_denial_before_run
        and decision != "reject"
    ):
        return "interrupted"
    if kind is not None or decision == "reject":
        return "denied"
    if decision == "accept":
        by_rule = tool in _AGENT_TOOLS and _AGENT_DENIED.match(text) is not None
        return "denied" if by_rule else "error"
    if text.startswith(INTERRUPT):
        return "interrupted"
    return "denied" if _tells_denial(text, tool) else "error"


def exit_code_of(status: Status, text: str, tool: str) -> int | None:
    """The exit code in the first line of a failed `Bash` result; no other tool's text tells one."""
    if status != "error" or tool != "Bash":
        return None
    found = _EXIT_CODE.match(text)
    return int(found[1]) if found else None


def _tells_denial(text: str, tool: str) -> bool:
    return any(text.startswith(start.replace("{tool}", tool)) for start in _DENIED_STARTS) or any(
        pattern.match(text) for pattern in _DENIED_TEXTS
    )
