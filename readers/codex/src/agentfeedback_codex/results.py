"""How a call ended, by the text of its output. Pure.

Only what Codex itself wrote decides: the header above the first line that is exactly `Output:`,
or, where no such line is, the start of the text. `README.md` names the versions each text was seen in.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agentfeedback.reading import Raw, Status, decoder, lines_above, value
from agentfeedback_codex.lines import OUTPUT, Part, Wrapped
from agentfeedback_codex.wording import FAILED_BY_TOOL

#: Denials that stand in the header, or start a text without one.
_DENIED = (
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by configuration",
    "automatic approval review denied the action",
)
#: Denials of the configuration, the reviewer and hooks, whatever the tool.
_DENIED_ANY_TOOL = (
    "rejected by configuration",
    "automatic approval review denied the action",
    "This action was rejected due to unacceptable risk.",
    "Automatic approval review failed: ",
    "Automatic approval review timed out while ",
    "Command blocked by PreToolUse hook: ",
    "Tool call blocked by PreToolUse hook: ",
)
#: Denials that start a text without a header.
_DENIED_START = (
    *_DENIED,
    *_DENIED_ANY_TOOL,
    "patch rejected: ",
)
_DENIED_COMMAND = re.compile(
    r'exec_command failed(?: for `.*?`)?: CreateProcess \{ message: "Rejected\(', re.DOTALL
)
#: Denials of the approval policy, of a rule that would have to ask, and of the network's.
_DENIED_POLICY = re.compile(
    r"approval policy is [^\n;]*; reject command"
    r"|approval required by policy(?: rule)?, but AskForApproval"
    r'|Network access to "[^"\n]*" (?:is|was) blocked by policy\.'
)
#: Nobody refused these, though they begin as a refusal does.
_EMPTY_PATCH = "patch rejected: empty patch"
_NOT_STARTED = '\\"Failed to create unified exec process: '
#: What a rule of the user's refuses, in the tools that run one command of a shell.
_RULED_OUT = re.compile(r"`.*?` rejected: ", re.DOTALL)
_EXEC = "exec_command"
_SHELLS = ("shell", "shell_command", "local_shell", "container.exec")
_FAILED_ANY_TOOL = (
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments: ",
)
_FAILED_START = (
    *_FAILED_ANY_TOOL,
    "apply_patch verification failed: ",
    "unable to locate image at ",
    "write_stdin failed: ",
    "execution error: ",
    "failed in sandbox ",
    "exec_command failed",
)
#: Any tool that the session's mode does not have says so by its own name.
_UNAVAILABLE = " is unavailable in "
_FAILED_MCP = 'err: "tool call error: tool call failed for '
#: Why Codex did not pass a call on to its server, as the whole message.
_MCP_NOT_MADE: dict[str, Status] = {
    "user rejected MCP tool call": "denied",
    "MCP tool call blocked by app configuration": "denied",
    "user cancelled MCP tool call": "interrupted",
}
_MCP_ERROR = re.compile(r'err: "([^"\\\n]*)"')
#: In the name of an MCP tool: `mcp__<server>__<tool>`, in 0.40 `<server>__<tool>`. No tool of Codex' own has it.
_SERVER = "__"
#: What Codex puts in the place of a server's answer, with the names of server and tool.
_MCP_FAILED = re.compile(
    r"""(?:\[\{"type":"text","text":")?tool call error: tool call failed for `([^`/]+)/([^`]+)`"""
)
_MCP_TEXT = re.compile(r"""\[\{"type":"text","text":"([^"\\]*)"\}\]""")
_NO_WORD = re.compile(r"[^a-z0-9]+")
#: The namespaces of Codex' own tools for sub-agents.
_OWN_NAMESPACE = re.compile(r"(?:collaboration|multi_agent_v[0-9]+)\.")
#: The header of a patch that was given to a tool that runs commands: what follows is the patch's own result.
_PATCH_HEADER = re.compile(r"Wall time: [0-9.]+ seconds")
_EXIT = re.compile(
    r"^(?:Process exited with code|Exit code:) (-?[0-9]{1,19})[^\S\n]*$", re.ASCII | re.MULTILINE
)
#: A line that some versions put above the header: the command, quoted for a shell, so it ends at its first line end
#: outside quotes. It may hold any line that a header does.
_NAMED = "Command: "
_COMMAND = re.compile(
    _NAMED + r"""(?:[^'"\\\n]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.)*+\n(?=Chunk ID: |Wall time: )""",
    re.DOTALL,
)
_ABORTED = "aborted by user"
_SCRIPT_ERROR = "Script error:\n"
#: How much of an answer is kept while its call is not recorded yet, in characters.
_HELD = 4096


class Outcome(NamedTuple):
    """How a call ended: `content` is what it printed or why it failed, `exit_code` None where none is recorded."""

    status: Status
    content: str = ""
    exit_code: int | None = None


class Answer(NamedTuple):
    """An output as far as it is judged: its text, the last item of a list, and an object with metadata as a result."""

    text: str
    last: str = ""
    wrapped: Outcome | None = None

    def shortened(self) -> Answer:
        """The answer with no more of each text than a digest may show."""
        wrapped = self.wrapped
        if wrapped is not None:
            wrapped = wrapped._replace(content=wrapped.content[:_HELD])
        return Answer(self.text[:_HELD], self.last[:_HELD], wrapped)


def read(member: Raw) -> Answer:
    """What an output says, whatever tool it is of."""
    return _read(value(member, OUTPUT))


def succeeded(member: Raw, tool: str) -> bool:
    """Whether the header of an output tells by itself that the call of `tool` was fine, as it nearly always does.

    Where this is true `outcome` says the same, and what is below the header need not be decoded.
    """
    header = lines_above(member, "Output:")
    if header is None or _SERVER in tool or header.lstrip().startswith(("{", _NAMED)):
        return False
    return _exit_code(header) == 0


def _read(output: str | list[Part] | Wrapped | None) -> Answer:
    if isinstance(output, Wrapped):
        return _of_list(output.content)._replace(wrapped=_of_metadata(output))
    answer = _of_list(output)
    start = answer.text.lstrip()
    if start.startswith("{"):
        wrapped = decoder(Wrapped)(start.encode("utf-8", "replace"))
        if wrapped is not None:
            return answer._replace(wrapped=_of_metadata(wrapped))
    return answer


def outcome(answer: Answer, tool: str) -> Outcome:
    """How the call of `tool` ended that Codex answered with `answer`."""
    mcp = _SERVER in tool
    # A server's answer may be any JSON; Codex wraps the output of its own tools only.
    if answer.wrapped is not None and not mcp:
        return answer.wrapped
    command = _COMMAND.match(answer.text)
    header, body = _split(answer.text, command.end() if command is not None else 0)
    if header is not None and mcp:
        return Outcome("error" if _is_mcp_failure(body, tool) else "ok", body)
    if header is not None and tool == _EXEC and _PATCH_HEADER.fullmatch(header) is not None:
        patch = _read(body)
        inner, text = _split(body)
        if patch.wrapped is not None:
            return patch.wrapped
        if inner is not None:
            return _of_header(inner, text, "")
    if header is not None:
        return _of_header(header, body, answer.last)
    start = answer.text.lstrip()
    status: Status | None = _refusal(start, tool)
    if status is None and _is_abort(start):
        status = "interrupted"
    if status is None:
        status = "error" if _is_failure(start, tool) else "ok"
    return Outcome(status, answer.text)


def is_unknown(answer: Answer, tool: str) -> bool:
    """Whether an output is a text of which no rule knows what it says: no header, no JSON, no fixed text."""
    text = answer.text.lstrip()
    if not text or text.startswith(("{", "[")) or _split(answer.text)[0] is not None:
        return False
    return outcome(answer, tool).status == "ok"


def mcp_failure(message: str) -> Status:
    """The status of an MCP call that failed with this message, a member of Codex' own record of it."""
    return _MCP_NOT_MADE.get(message, "error")


def _of_list(output: str | list[Part] | None) -> Answer:
    if isinstance(output, list):
        text = "\n".join(part.text for part in output if part.text)
        return Answer(text, (output[-1].text or "") if output else "")
    return Answer(output or "")


def _of_metadata(wrapped: Wrapped) -> Outcome | None:
    if wrapped.output is None or wrapped.metadata is None:
        return None
    code = wrapped.metadata.exit_code
    _, body = _split(wrapped.output)
    return Outcome("error" if code else "ok", body, code)


def _exit_code(header: str) -> int | None:
    codes = _EXIT.findall(header)
    code = int(codes[-1]) if codes else None
    return code if code is None or -(2**63) <= code < 2**63 else None


def _of_header(header: str, body: str, last: str) -> Outcome:
    code = _exit_code(header)
    if code == 0:
        return Outcome("ok", body, 0)
    if any(text in header for text in _DENIED):
        return Outcome("denied", body)
    if header.startswith(_ABORTED) or f"\n{_ABORTED}" in header:
        return Outcome("interrupted", body)
    if code is not None:
        return Outcome("error", body, code)
    if header.partition("\n")[0] == "Script failed":
        reason = last.removeprefix(_SCRIPT_ERROR)
        refused = reason != last and _refusal(reason, "") == "denied"
        return Outcome("denied" if refused else "error", body)
    return Outcome("ok", body)


def _refusal(text: str, tool: str) -> Status | None:
    """How a call ended that was refused, or (an error) could not begin and reads as if it had been refused."""
    if _SERVER in tool:
        message = _MCP_ERROR.fullmatch(text) or _MCP_TEXT.fullmatch(text)
        if message is not None and message[1] in _MCP_NOT_MADE:
            return _MCP_NOT_MADE[message[1]]
        return "denied" if text.startswith(_DENIED_ANY_TOOL) else None
    command = _DENIED_COMMAND.match(text)
    if text.rstrip() == _EMPTY_PATCH or (
        command is not None and text.startswith(_NOT_STARTED, command.end())
    ):
        return "error"
    if command is not None or text.startswith(_DENIED_START) or _DENIED_POLICY.match(text):
        return "denied"
    if tool in _SHELLS and _RULED_OUT.match(text) is not None:
        return "denied"
    return None


def _is_failure(text: str, tool: str) -> bool:
    if _SERVER in tool:
        return text.startswith((*_FAILED_ANY_TOOL, _FAILED_MCP)) or _is_mcp_failure(text, tool)
    if text.startswith(_FAILED_START):
        return True
    name = _OWN_NAMESPACE.sub("", tool, count=1)
    return text.startswith(FAILED_BY_TOOL.get(name, ())) or (
        bool(name) and text.startswith(name + _UNAVAILABLE)
    )


def _is_mcp_failure(text: str, tool: str) -> bool:
    """Whether an answer is Codex' own, that a call of this very tool failed."""
    match = _MCP_FAILED.match(text)
    if match is None:
        return False
    named = _words(f"{match[1]} {match[2]}")
    return _words(tool) in (named, f"mcp_{named}")


def _words(name: str) -> str:
    return _NO_WORD.sub("_", name.lower())


def _is_abort(text: str) -> bool:
    first, _, rest = text.partition("\n")
    return first.startswith(_ABORTED) or (
        first.startswith("Wall time: ") and rest.startswith(_ABORTED)
    )


def _split(text: str, start: int = 0) -> tuple[str | None, str]:
    """The header from `start` to the first line that is exactly `Output:` (None without one) and what is below it."""
    if text.startswith("Output:\n", start) or (len(text) == start + 7 and text.endswith("Output:")):
        return "", text[start + 8 :]
    at = text.find("\nOutput:\n", start)
    if at >= 0:
        return text[start:at], text[at + 9 :]
    if text.endswith("\nOutput:") and len(text) - 8 >= start:
        return text[start:-8], ""
    return None, text
