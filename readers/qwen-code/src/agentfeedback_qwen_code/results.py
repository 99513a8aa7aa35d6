"""How a call ended, by what its record and the text of its answer say (README, "Results"). Pure."""

from __future__ import annotations

import re

from agentfeedback.reading import Status

SHELL = "run_shell_command"
#: What the terminal writes when a person says no at the question whether a tool may run.
_NOT_ALLOWED = "[Operation Cancelled] Reason: User did not allow tool call"
_DENIED = "execution_denied"
_TIMED_OUT = re.compile(r"Command timed out after \d+ms before it could complete\.", re.ASCII)
#: The lines below a command's output, the last in the text. What the command printed stands above.
_ENDED = re.compile(
    r"(?:\A|\n)Exit Code: (?P<code>-?\d{1,19}|\(none\))\nSignal: (?P<signal>[^\n]*)"
    r"(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?\s*\Z",
    re.ASCII,
)
#: Characters of the end in which those lines are looked for.
_END = 4096
_NO_SIGNAL = ("0", "(none)")
_NOBODY = "Cannot ask user questions in non-interactive mode."


def outcome(
    status: str | None, error_type: str | None, tool: str, text: str
) -> tuple[Status, int | None]:
    """Status and exit code of a call, by the record of its result and the text of the answer."""
    if status == "cancelled":
        return ("denied" if text.startswith(_NOT_ALLOWED) else "interrupted"), None
    if status == "error":
        return ("denied" if error_type == _DENIED else "error"), None
    if tool == SHELL:
        return _of_a_command(text)
    return ("error" if text.startswith(_NOBODY) else "ok"), None


def _of_a_command(text: str) -> tuple[Status, int | None]:
    if _TIMED_OUT.match(text):
        return "error", None
    ended = _ENDED.search(text[-_END:])
    if ended is None:
        return "ok", None
    code = int(ended["code"]) if ended["code"] != "(none)" else 0
    if code and -(1 << 63) <= code < 1 << 63:
        return "error", code
    return ("ok" if ended["signal"] in _NO_SIGNAL and not code else "error"), None
