"""How Cursor is wired, and what its hooks keep: the only way Cursor sessions are ever found.

No transcript is opened here.
"""

from __future__ import annotations

import os

from agentfeedback.plugins import Installer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

HARNESS = "cursor"
#: How many workspace roots, and how many directories, are kept of a session.
MOST = 256
#: The longest path that is kept, in bytes: no system names a file by a longer one.
LONGEST = 4096
#: The longest name of a file, in bytes.
_LONGEST_NAME = 255
_TRANSCRIPT = ".jsonl"
#: The most characters of an id in the name of its transcript.
_LONGEST_STEM = 200


class Cursor(Installer):
    harness = HARNESS
    events = ("postToolUseFailure", "stop", "sessionEnd")
    version = 1
    indexes = True

    def settings(self, home: str, environ: Mapping[str, str]) -> str:
        return os.path.join(home, ".cursor", "hooks.json")

    def entry(self, command: str) -> dict[str, Any]:
        return {"command": command, "timeout": 5}

    def session(self, payload: Mapping[str, Any]) -> str:
        for member in ("conversation_id", "session_id"):
            id = payload.get(member)
            if isinstance(id, str) and id:
                return id if valid_id(id) else ""
        return ""

    def keep(self, kept: dict[str, Any], payload: Mapping[str, Any], home: str) -> None:
        id = self.session(payload)
        kept["conversation_id"] = id
        path = payload.get("transcript_path")
        if isinstance(path, str) and is_transcript(path, id, home):
            kept["transcript_path"] = path
        roots = payload.get("workspace_roots")
        if isinstance(roots, list):
            # One that is not a text stays as an invalid root: the policy cannot be asked about it.
            named = [root if isinstance(root, str) else "" for root in roots]
            _add(kept, "workspace_roots", named)
        cwd = payload.get("cwd")
        if isinstance(cwd, str) and valid_directory(cwd):
            kept["cwd"] = cwd
            _add(kept, "cwds", [cwd])


def valid_id(id: str) -> bool:
    """Whether an id can be part of a ref and its transcript's name part of a path."""
    if id in ("", ".", "..") or any(bad in id for bad in "/\\#\0"):
        return False
    try:
        return len((id + _TRANSCRIPT).encode()) <= _LONGEST_NAME
    except UnicodeEncodeError:
        return False


def valid_directory(path: str) -> bool:
    """Whether a policy can be asked about a recorded directory: an absolute path of this system."""
    return path.startswith("/") and "\0" not in path and _encoded_length(path) <= LONGEST


def is_transcript(path: str, id: str, home: str) -> bool:
    """Whether a path may be a session's transcript: beneath the home by its text, named as its id is."""
    plain = path.startswith("/") and "\0" not in path and path == os.path.normpath(path)
    above = os.path.normpath(home).rstrip("/") + "/"
    return (
        plain
        and path.startswith(above)
        and os.path.basename(path) in (id + _TRANSCRIPT, _file_name(id) + _TRANSCRIPT)
        and _encoded_length(path) <= LONGEST
    )


def _file_name(id: str) -> str:
    """The name that Cursor's writer (@cursor/sdk 1.0.32) makes of an id: as in a URL, with `_` for `%`, and cut."""
    encoded = (
        character
        if character.isascii() and (character.isalnum() or character in "-_.!~*'()")
        else "".join(f"_{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
        for character in id
    )
    return "".join(encoded)[:_LONGEST_STEM]


def _add(kept: dict[str, Any], member: str, paths: list[str]) -> None:
    """Add paths to those kept, in order of first appearance; what does not fit is remembered as missing."""
    there = kept.get(member)
    known = (
        dict.fromkeys(path for path in there if isinstance(path, str))
        if isinstance(there, list)
        else {}
    )
    for path in paths:
        if path in known:
            continue
        if len(known) < MOST and _encoded_length(path) <= LONGEST:
            known[path] = None
        else:
            kept["incomplete"] = True
    kept[member] = list(known)


def _encoded_length(path: str) -> int:
    return len(path.encode("utf-8", "surrogatepass"))


INSTALLER = Cursor()
