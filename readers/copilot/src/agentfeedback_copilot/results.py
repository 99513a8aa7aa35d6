"""How a call ended, by what its `tool.execution_complete` holds (README, "Shell results"). Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentfeedback.reading import Status, last_line
from agentfeedback_copilot.lines import Data, answer_of

#: Tools that run a command in a shell.
SHELLS = ("bash", "powershell")
#: Tools that show what a command in a shell goes on printing, and how it ended.
SHELL_READERS = ("read_bash", "read_powershell", "write_bash", "write_powershell")

#: The line with which the harness closes the output of a shell.
_CLOSING = re.compile(
    r"<(?:(?:detached command with )?shellId: (?P<shell>[^\n]*) completed"
    r"|command with id: (?P<read>[^\n]*) exited"
    r"|exited)"
    r" with exit code (?P<code>-?[0-9]+)>\s*",
    re.ASCII,
)
#: Lines the harness may add below it.
_REMARKS = ("<sandbox is active ", "<this failure may be caused by t")
#: How the last line of a result starts whose command goes on running in a shell; it ends with `>`.
_GOES_ON = re.compile(
    r"<command (?:started in (?:detached )?background with shellId: (?P<started>[^\n]*)>\Z"
    r"|with shellId: (?P<kept>[^\n]*?) (?:is still running after |moved to background by the user))",
    re.ASCII,
)
#: How else the harness's last line may start; it ends likewise.
_NO_RESULT = re.compile(
    r"<(?:command with (?:id|shellId): [^\n]*? (?:stopped>\Z|was started with detach: true "
    r"|is already running, |is running in the background )"
    r"|unable to send input\. "
    r"|(?:shellId: [^\n]*? )?exited with error: "
    r"|no active shell sessions>\Z)",
    re.ASCII,
)
#: What the harness's last line is about.
_SUBJECTS = ("exit code", "shell", "command")
_DENIED = ("rejected", "denied")
#: What the harness closes a call with that was open when its process ended, or that its program cancelled.
_INTERRUPTED = ("interrupted", "cancelled")
#: Digits of the longest exit code that counts, one of 64 bits.
_MOST_DIGITS = 19


class Outcome(NamedTuple):
    """How a call ended.

    `exit_code` is None unless a failing one is recorded; `running` names the shell in which the
    command went on after its call.
    """

    status: Status
    content: str
    exit_code: int | None = None
    running: str | None = None


def succeeded(data: Data, *, shell: bool, reads: str | None = None) -> bool:
    """Whether the last line of a result tells by itself that its call was fine, as it nearly always does.

    Where this is true `outcome` says the same, and the result need not be decoded. The arguments are
    those of `outcome`.
    """
    if not data.success or data.shell_execution is not None or reads is not None:
        return False
    if not shell:
        return True
    line = last_line(data.result.content) if data.result is not None else None
    if not line or line.isspace() or line.startswith(_REMARKS):
        return False
    closing = _CLOSING.fullmatch(line)
    return not line.startswith("<") if closing is None else closing["code"] == "0"


def outcome(data: Data, *, shell: bool, reads: str | None = None) -> Outcome:
    """The outcome of a completed call.

    `shell` says that its tool runs commands in a shell. `reads` names the shell of which it shows
    the output, where it runs none itself.
    """
    content = answer_of(data)
    error = data.error
    if not content and error is not None:
        content = error.message or ""
    code: int | None = None
    running: str | None = None
    if shell or reads is not None or data.shell_execution is not None:
        running = goes_on(content) if shell else None
        content, code = without_closing(content, of=reads)
        if data.shell_execution is not None:
            recorded = of_64_bits(data.shell_execution.exit_code)
            code = code if recorded is None else recorded
    if not data.success and error is not None and error.code in _DENIED:
        return Outcome("denied", content)
    if not data.success and error is not None and error.code in _INTERRUPTED:
        return Outcome("interrupted", content)
    if data.success and not code:
        return Outcome("ok", content, running=running)
    return Outcome("error", content, code or None)


def without_closing(content: str, *, of: str | None = None) -> tuple[str, int | None]:
    """An output without its closing line, and the exit code in that line; unchanged, and None, where there is no such line.

    `of` names the shell that a closing line must be of where it names one.
    """
    start, line = _last_line(content)
    closing = _CLOSING.fullmatch(line)
    if closing is None:
        return content, None
    shell = closing["shell"] if closing["read"] is None else closing["read"]
    if of is not None and shell not in (None, of):
        return content, None
    digits = closing["code"]
    short = len(digits.lstrip("-")) <= _MOST_DIGITS
    return content[:start].rstrip("\r\n"), of_64_bits(int(digits)) if short else None


def goes_on(content: str) -> str | None:
    """The shell in which a command goes on running, by the last line of its call's result."""
    line = _last_line(content)[1].rstrip()
    found = _GOES_ON.match(line) if line.endswith(">") else None
    return (found["started"] or found["kept"]) if found is not None else None


def has_unknown_line(content: str) -> bool:
    """Whether the last line of a result looks like the harness's about a shell, and is not a known one."""
    line = _last_line(content)[1].rstrip()
    if not (
        line.startswith("<") and line.endswith(">") and line.count("<") == line.count(">") == 1
    ):
        return False
    if not any(subject in line for subject in _SUBJECTS):
        return False
    return not any(form.match(line) for form in (_CLOSING, _GOES_ON, _NO_RESULT))


def of_64_bits(code: int | None) -> int | None:
    """An exit code; one that no 64 bits hold counts as absent."""
    return code if code is not None and -(1 << 63) <= code < 1 << 63 else None


def _last_line(content: str) -> tuple[int, str]:
    """The last line of an output but for blank ones and remarks, and where it starts."""
    end = len(content)
    while end >= 0:
        start = content.rfind("\n", 0, end) + 1
        line = content[start:end]
        if line and not line.isspace() and not line.startswith(_REMARKS):
            return start, line
        end = start - 1
    return 0, ""
