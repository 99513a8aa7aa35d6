"""What a tool call was given: its input as JSON text, and its shell command where it has one. Pure."""

from __future__ import annotations

from typing import Any

from agentfeedback.reading import INVALID, Raw, decoder, loads
from agentfeedback_codex.lines import Action, Spoken

_SHELLS = ("bash", "sh", "zsh", "dash")
_SCRIPT_FLAGS = ("-c", "-lc", "-cl")


def tool_of(call: Spoken) -> str:
    """The tool that a call names; a `local_shell_call` has no name of its own."""
    if call.type == "local_shell_call":
        return "local_shell"
    name = call.name or ""
    return f"{call.namespace}.{name}" if call.namespace else name


def function_input(arguments: Raw, tool: str) -> tuple[bytes, str | None]:
    """Input and command of a `function_call`: its `arguments` are a string that holds JSON."""
    text = bytes(arguments)
    if not text:
        return b"null", None
    if text in (b"null", b'""'):
        return b'""', None
    value = loads(text)
    if isinstance(value, str):
        inner = value.encode("utf-8", "replace")
        value = loads(inner)
        if value is INVALID:
            return text, None
        text = inner
    return text, _command(value, tool)


def raw_input(input: Raw) -> bytes:
    """Input of a call that is recorded as it is; an absent one is `null`."""
    return bytes(input) or b"null"


def action_command(action: Raw) -> str | None:
    """The command in the `action` of a `local_shell_call`."""
    decoded = decoder(Action)(bytes(action))
    return None if decoded is None else argv_command(loads(bytes(decoded.command)))


def argv_command(argv: Any) -> str | None:
    """The command of an argument vector: the script of a shell called for nothing else, else all words joined."""
    if isinstance(argv, str):
        return argv
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
        return None
    if len(argv) == 3 and argv[0].rpartition("/")[2] in _SHELLS and argv[1] in _SCRIPT_FLAGS:
        script: str = argv[2]
        return script
    return " ".join(argv)


def _command(arguments: Any, tool: str) -> str | None:
    if not isinstance(arguments, dict):
        return None
    if tool == "exec_command":
        command = arguments.get("cmd")
        return command if isinstance(command, str) else None
    if tool == "shell":
        return argv_command(arguments.get("command"))
    return None
