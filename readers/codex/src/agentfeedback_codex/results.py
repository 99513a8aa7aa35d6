"""How a call ended, by the text of its output (details 14.2 "Output text", as `README.md` corrects it). Pure.

Only what Codex itself wrote decides: the header above the first line that is exactly `Output:`,
or, where no such line is, the start of the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentfeedback.record import decoder
from agentfeedback.teller import Status

from .lines import Part, Wrapped

#: Denials that stand in the header, or start a text without one.
_DENIED = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by configuration",
    "automatic approval review denied the action",
)
#: Denials that start a text without a header.
_DENIED_START = (
    *_DENIED,
    "patch rejected: ",
    "approval policy is Never; reject command",
    "This action was rejected due to unacceptable risk.",
    "Automatic approval review failed: ",
    "Command blocked by PreToolUse hook: ",
)
_DENIED_COMMAND = re.compile(
    r'exec_command failed(?: for `.*?`)?: CreateProcess \{ message: "Rejected\(', re.DOTALL
)
_FAILED_START = (
    "apply_patch verification failed: ",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments: ",
    "unable to locate image at ",
    "write_stdin failed: ",
    "execution error: ",
    "failed in sandbox ",
    "exec_command failed",
)
_EXIT = re.compile(
    r"^(?:Process exited with code|Exit code:) (-?[0-9]{1,18})[^\S\n]*$", re.ASCII | re.MULTILINE
)
_ABORTED = "aborted by user"
_SCRIPT_ERROR = "Script error:\n"


class Outcome(NamedTuple):
    """How a call ended: `content` is what it printed or why it failed, `exit_code` None where none is recorded."""

    status: Status
    content: str = ""
    exit_code: int | None = None


def outcome(output: str | list[Part] | Wrapped | None, tool: str) -> Outcome:
    """How the call of `tool` ended that Codex answered with `output`."""
    if isinstance(output, Wrapped):
        return _of_metadata(output) or _of_text(_joined(output.content), tool, output.content)
    text = _joined(output)
    start = text.lstrip()
    if start.startswith("{"):
        wrapped = decoder(Wrapped)(start.encode("utf-8", "replace"))
        if wrapped is not None and (told := _of_metadata(wrapped)) is not None:
            return told
    return _of_text(text, tool, output)


def _joined(output: str | list[Part] | None) -> str:
    if isinstance(output, list):
        return "\n".join(part.text for part in output if part.text)
    return output or ""


def _of_metadata(wrapped: Wrapped) -> Outcome | None:
    if wrapped.output is None or wrapped.metadata is None:
        return None
    code = wrapped.metadata.exit_code
    _, body = _split(wrapped.output)
    return Outcome("error" if code else "ok", body, code)


def _of_text(text: str, tool: str, output: str | list[Part] | None) -> Outcome:
    header, body = _split(text)
    if header is not None:
        return _of_header(header, body, output)
    start = text.lstrip()
    if _is_denial(start):
        return Outcome("denied", text)
    if _is_abort(start):
        return Outcome("interrupted", text)
    if start.startswith(_FAILED_START):
        return Outcome("error", text)
    # `error: ` was Codex' own word in these two tools; any other tool may print it.
    if tool in ("shell", "apply_patch") and start.startswith("error: "):
        return Outcome("error", text)
    return Outcome("ok", text)


def _of_header(header: str, body: str, output: str | list[Part] | None) -> Outcome:
    codes = _EXIT.findall(header)
    code = int(codes[-1]) if codes else None
    if code == 0:
        return Outcome("ok", body, 0)
    if any(text in header for text in _DENIED):
        return Outcome("denied", body)
    if header.startswith(_ABORTED) or f"\n{_ABORTED}" in header:
        return Outcome("interrupted", body)
    if code is not None:
        return Outcome("error", body, code)
    if header.partition("\n")[0] == "Script failed":
        return Outcome("denied" if _script_was_denied(output) else "error", body)
    return Outcome("ok", body)


def _script_was_denied(output: str | list[Part] | None) -> bool:
    if not isinstance(output, list) or not output:
        return False
    last = output[-1].text or ""
    return last.startswith(_SCRIPT_ERROR) and _is_denial(last[len(_SCRIPT_ERROR) :])


def _is_denial(text: str) -> bool:
    return text.startswith(_DENIED_START) or _DENIED_COMMAND.match(text) is not None


def _is_abort(text: str) -> bool:
    first, _, rest = text.partition("\n")
    return first.startswith(_ABORTED) or (
        first.startswith("Wall time: ") and rest.startswith(_ABORTED)
    )


def _split(text: str) -> tuple[str | None, str]:
    """The header above the first line that is exactly `Output:` (None without one) and what is below it."""
    if text.startswith("Output:\n") or text == "Output:":
        return "", text[8:]
    at = text.find("\nOutput:\n")
    if at >= 0:
        return text[:at], text[at + 9 :]
    if text.endswith("\nOutput:"):
        return text[:-8], ""
    return None, text
