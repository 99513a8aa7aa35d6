"""What a tool result says of its call: the harness's own fields first, then its fixed texts. Pure.

The texts are matched from the start of the result, never within it: what a command printed is not
the harness's word.
"""

from __future__ import annotations

import re

from attrs import evolve, frozen

from agentfeedback.reading import Status
from agentfeedback_claude_code.lines import Line, Outcome
from agentfeedback_claude_code.versions import numbers

#: What the transcript says for a call the user refused or broke off.
REJECTED = "User rejected tool use"
#: The text the model gets about it.
REFUSAL = "The user doesn't want to proceed with this tool use"
#: The start of a result that an interrupt left behind (2.0.0).
_INTERRUPT = "[Request interrupted by user"
#: The start of a result that a resume adds to a call without one, as far as no member says so.
_LEFT_OPEN = "[Tool call interrupted: the session ended before this call's result was recorded"
#: How much of a failed result is kept while its call is not known yet, in characters.
HELD = 4096

#: From this version on a refusal has a `toolDenialKind`, whatever its words; no version between this
#: and 2.1.197 was run.
_KINDS_SINCE = (2, 1, 290)
_COMMANDS = frozenset({"Bash", "PowerShell"})
_AGENTS = frozenset({"Agent", "Task"})
_EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
#: The start of the names of tools of a server, which writes its own error texts.
_OF_A_SERVER = "mcp__"
_TOOL_ERROR = "<tool_use_error>"

_AGENT_DENIED = re.compile(r"Agent type '.*?' has been denied by permission rule", re.DOTALL)
#: Denials by their start, of any tool.
_DENIED_STARTS = (
    REFUSAL,
    "Auto mode is unavailable: ",
    "Permission for this action was denied by the Claude Code auto mode classifier. Reason: ",
)
#: Denials by their start, with the name of the call's tool in between.
_DENIED_TOOL = (
    ("Permission to use ", " has been denied"),
    ("Permission to use ", " has been auto-denied in dontAsk mode."),
    ("PreToolUse:", " hook error: "),
)
#: Denials by their whole text, of any tool.
_DENIED_WHOLE = re.compile(
    r"(?:Permission to .+ has been denied\.|Claude requested permissions to .+, but you haven't granted it yet\.)\Z",
    re.DOTALL,
)
#: Denials of the harness's own tools alone, which no server's text can be taken for.
_DENIED_OWN = re.compile(
    r"""
      This\ command\ requires\ approval\Z
    | This\ Bash\ command\ contains\ multiple\ operations\.\ The\ following\ part
    | \S+\ in\ '[^\n]*?'\ (?:was\ blocked\.\ For\ security,\ |needs\ approval\.\ )
    | <tool_use_error>File\ is\ in\ a\ directory\ that\ is\ denied\ by\ your\ permission\ settings\.
    | Agent\ type\ .*?has\ been\ denied\ by\ permission\ rule
    """,
    re.DOTALL | re.VERBOSE,
)

#: How a command that ran and failed begins; no text of a denial does.
_EXIT = "Exit code "
_EXIT_LINE = re.compile(r"Exit code (-?\d{1,19})[^\S\n]*(?:\n|\Z)", re.ASCII)
#: How a failed command begins, whatever number it names.
_RAN = re.compile(r"Exit code -?\d", re.ASCII)
_KILLED = re.compile(
    r"Exit code 137\n\[Request interrupted by user for tool use\](?:\n|\Z)", re.ASCII
)
#: An edit that failed by itself: the name of a system error or of an exception, or this text.
_FAILED_EDIT = re.compile(
    r"<tool_use_error>|File has been unexpectedly modified|(?:E[A-Z0-9]+|\w*Error): ", re.ASCII
)


@frozen
class Failure:
    """What the line of a failed or interrupted result says, apart from which tool was called.

    `text` is the result's own text. `told` says that `toolUseResult` is that text after `Error: `.
    """

    text: str
    interrupted: bool
    rejected: bool
    told: bool
    kind: str | None
    before_run: bool
    decision: str | None
    version: tuple[int, int, int] | None
    terminal: bool

    @classmethod
    def of(cls, line: Line, text: str) -> Failure:
        """What `line` says of a result whose text is `text`."""
        outcome = line.tool_use_result
        return cls(
            text=text,
            interrupted=was_interrupted(line),
            rejected=outcome == REJECTED,
            told=isinstance(outcome, str) and outcome == f"Error: {text}",
            kind=line.tool_denial_kind,
            before_run=bool(line.tool_denial_before_run),
            decision=line.permission_decision.decision if line.permission_decision else None,
            version=numbers(line.version),
            terminal=line.entrypoint == "cli",
        )

    def held(self, length: int) -> Failure:
        """The same with at most `length` characters of its text; a text that was cut ends in an ellipsis."""
        if len(self.text) <= length:
            return self
        return evolve(self, text=self.text[:length] + "\N{HORIZONTAL ELLIPSIS}")

    @property
    def may_have_run(self) -> bool:
        """Whether the call was rejected and nothing says that it had not begun."""
        return self.rejected and not self.before_run and self.decision != "reject"


def is_ruled(failure: Failure, tool: str) -> bool:
    """Whether a rule knows what the failure says, or its text is output that may be anything.

    Of an error the harness's own word is known, and the first line of a command. The words of a hook
    and of a person are expected only in the versions that write them without a member that says so.
    """
    text, version = failure.text, failure.version
    if failure.interrupted or failure.kind is not None or failure.decision is not None:
        return True
    if text.startswith((_INTERRUPT, _LEFT_OPEN)) or _says_denied(text, tool):
        return True
    if tool in _COMMANDS:
        words = version is None or version < _KINDS_SINCE
        return _RAN.match(text) is not None or (words and not text.startswith(_TOOL_ERROR))
    return _says_no(failure, tool)


def was_interrupted(line: Line) -> bool:
    """Whether the tool itself recorded that it was interrupted, whatever the result says."""
    return isinstance(line.tool_use_result, Outcome) and bool(line.tool_use_result.interrupted)


def failure_of(failure: Failure, tool: str) -> Status:
    """The status of a call of `tool` whose result is an error or interrupted, by the first rule that applies."""
    text = failure.text
    if failure.interrupted or failure.kind in ("interrupted", "cancelled"):
        return "interrupted"
    if failure.kind == "user-rejected" and failure.may_have_run:
        return "denied" if failure.terminal else "interrupted"
    if failure.kind is not None or failure.decision == "reject":
        return "denied"
    if failure.decision == "accept":
        by_rule = tool in _AGENTS and _AGENT_DENIED.match(text) is not None
        return "denied" if by_rule else "error"
    if text.startswith(_EXIT):
        return "error"
    if text.startswith((_INTERRUPT, _LEFT_OPEN)):
        return "interrupted"
    denied = _says_denied(text, tool) or _says_why(failure, tool) or _says_no(failure, tool)
    return "denied" if denied else "error"


def killed_by_interrupt(text: str, tool: str) -> bool:
    """Whether an error says that an interrupt killed the command, or the command printed so."""
    return tool == "Bash" and _KILLED.match(text) is not None


def exit_code_of(status: Status, text: str, tool: str) -> int | None:
    """The exit code in the first line of a failed shell result; no other tool's text has one.

    None also for 0, which is not a failure's, and for a number of more than 64 bits.
    """
    if status != "error" or tool not in _COMMANDS:
        return None
    found = _EXIT_LINE.match(text)
    code = int(found[1]) if found else 0
    return code if code and -(2**63) <= code < 2**63 else None


def _says_denied(text: str, tool: str) -> bool:
    """Whether the text is one of the harness's for a denial."""
    if text.startswith(_DENIED_STARTS):
        return True
    if any(text.startswith(start + tool + end) for start, end in _DENIED_TOOL):
        return True
    if _DENIED_WHOLE.match(text) is not None:
        return True
    return not tool.startswith(_OF_A_SERVER) and _DENIED_OWN.match(text) is not None


def _says_why(failure: Failure, tool: str) -> bool:
    """Whether a hook or a host refused a command in its own words.

    From 2.0.60 on a command that ran and failed begins `Exit code N`.
    """
    text = failure.text
    return (
        tool == "Bash"
        and failure.version is not None
        and failure.version >= (2, 0, 60)
        and bool(text.strip())
        and not text.startswith(_TOOL_ERROR)
        and _RAN.match(text) is None
    )


def _says_no(failure: Failure, tool: str) -> bool:
    """Whether a person refused an edit in a dialog in their own words (2.0)."""
    return (
        tool in _EDITS
        and failure.version is not None
        and failure.version[:2] == (2, 0)
        and failure.told
        and bool(failure.text.strip())
        and _FAILED_EDIT.match(failure.text) is None
    )
