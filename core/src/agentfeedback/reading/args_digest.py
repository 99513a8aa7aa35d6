"""Digest of a call's arguments, and whether the call is agentfeedback's own command. Pure."""

from __future__ import annotations

import hashlib
import re

from agentfeedback.reading.record import INVALID, dumps, loads

_PIECES = re.compile(r"[&|;\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PREFIXES = frozenset({"env", "exec", "sudo", "command", "time"})
NAME = "agentfeedback"


def is_own(tool: str, command: str | None) -> bool:
    """True when the tool's name contains `agentfeedback` or a piece of the command starts with it."""
    if NAME in tool.lower():
        return True
    return command is not None and NAME in command and any(map(_runs_own, _PIECES.split(command)))


def _runs_own(piece: str) -> bool:
    words = piece.lstrip("({ \t\r").split()
    at = _unassigned(words, 0)
    if at < len(words) and words[at] in _PREFIXES:
        at = _unassigned(words, at + 1)
    return at < len(words) and re.split(r"[/\\]", words[at])[-1] == NAME


def _unassigned(words: list[str], at: int) -> int:
    """Where the first word from `at` on stands that is not an assignment of a variable."""
    while at < len(words) and _ASSIGNMENT.match(words[at]):
        at += 1
    return at


def args_digest(input: bytes | None, command: str | None) -> str:
    """Twelve hex digits that are equal for equal arguments."""
    if command is not None:
        material = " ".join(command.split()).encode("utf-8", "replace")
    elif input is None:
        material = b""
    else:
        value = loads(input)
        material = input if value is INVALID else dumps(value)
    return hashlib.sha256(material).hexdigest()[:12]
