"""The hooks in a Claude Code settings file: eleven entries of ours, added and removed byte for byte."""

from __future__ import annotations

import os
import shlex

from agentfeedback.foundation.folder import Folder
from agentfeedback.harness_hooks import entries, settings_file
from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.harness_hooks.json_edit import NotEditable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: The events that are wired, by Claude Code's own names.
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "MessageDisplay",
    "Stop",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
)
#: Seconds that Claude Code waits for a hook.
HOST_TIMEOUT = 20
#: What the transaction files beside a settings file end in.
NEW, OLD = ".agentscm-new", ".agentscm-old"
_TOOLS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")


class _ClaudeCode(Installer):
    harness = "claude-code"
    events = EVENTS
    grouped = True

    def entry(self, command: str) -> dict[str, Any]:
        return {"type": "command", "command": command, "timeout": HOST_TIMEOUT}

    def item(self, event: str, command: str) -> dict[str, Any]:
        group = super().item(event, command)
        return {"matcher": "*", **group} if event in _TOOLS else group


class _Transaction(Folder):
    """A folder whose file is written under the name of the transaction before it is put in place."""

    __slots__ = ()

    def unfinished(self, name: str) -> str:
        return name + NEW


_INSTALLER = _ClaudeCode()


def hook_command(agentscm: str, root: str) -> str:
    """Return the shell command of the hooks of a checkout; `agentscm` is the absolute path of the program."""
    runner = shlex.join([agentscm, "change-capture", "run-recipe"])
    return shlex.join(
        [agentscm, "change-capture", "hook-claude", "--root", root, "--runner", runner]
    )


def owner(root: str) -> Callable[[list[str]], bool]:
    """Return the rule of which commands are ours: any agentscm's hook of this very checkout."""

    def owns(words: list[str]) -> bool:
        return (
            len(words) >= 5
            and os.path.isabs(words[0])
            and os.path.basename(words[0]) == "agentscm"
            and words[1:5] == ["change-capture", "hook-claude", "--root", root]
        )

    return owns


class Change:
    """What adding or removing the hooks would do to a settings file; nothing is written before `apply`."""

    __slots__ = ("added", "created", "file", "text", "unchanged")

    def __init__(self, file: settings_file.HookFile, text: str | None, added: int) -> None:
        self.file = file
        #: What the file becomes; None when it goes.
        self.text = text
        self.added = added
        self.unchanged = len(EVENTS) - added
        #: Whether the file would be a new one.
        self.created = file.text is None and text is not None

    def apply(self, *, keep_old: bool) -> bool:
        """Write the change, if there is one, and return whether the file was changed.

        What the file was before is kept beside it with `keep_old`, else that copy is removed, and so is
        a file that a killed process had not put in place. Raises `AgentFeedbackError`.
        """
        folder, name = os.path.split(self.file.target)
        beside = _Transaction(folder, locked=True)
        try:
            _remove(beside, name + NEW)
            if self.text == self.file.text:
                if not keep_old:
                    _remove(beside, name + OLD)
                return False
            if keep_old and self.file.text is not None:
                before = settings_file.encoded(self.file, self.file.text)
                beside.put(name + OLD, before, replace=True)
        except OSError as error:
            raise settings_file.left_alone(self.file.path, str(error)) from error
        settings_file.write(self.file, self.text, _Transaction)
        if not keep_old:
            _remove(beside, name + OLD)
        return True


def adding(path: str, root: str, agentscm: str) -> Change:
    """Return the change that puts all hooks of a checkout into a settings file.

    Raises `AgentFeedbackError` for a file that must be left alone, such as one that is not strict JSON.
    """
    file = settings_file.read(path)
    command = hook_command(agentscm, root)
    wanted = dict.fromkeys(EVENTS, command)
    if file.text is None:
        return Change(file, entries.made(_INSTALLER, wanted), len(EVENTS))
    owns = owner(root)
    text = _edited(file, lambda old: entries.installed(old, _INSTALLER, wanted, owns))
    have = entries.commands(file.text, _INSTALLER, owns)
    return Change(file, text, sum(have.get(event) != [command] for event in EVENTS))


def removing(path: str, root: str) -> Change:
    """Return the change that takes all hooks of a checkout out of a settings file. Raises `AgentFeedbackError`."""
    file = settings_file.read(path)
    if file.text is None:
        return Change(file, None, 0)
    owns = owner(root)
    text: str | None = _edited(file, lambda old: entries.removed(old, _INSTALLER, owns))
    have = len(entries.events(file.text, _INSTALLER, owns))
    # Behind a link is a file that somebody keeps elsewhere: it is emptied of ours and stays.
    if entries.was_made(file.text, _INSTALLER, owns) and not os.path.islink(path):
        text = None
    return Change(file, text, have)


def state(path: str, root: str) -> str:
    """Return whether the hooks of a checkout are `installed`, `partial` or `missing` in a settings file."""
    file = settings_file.read(path)
    if file.text is None:
        return "missing"
    try:
        found = len(entries.events(file.text, _INSTALLER, owner(root)))
    except NotEditable as error:
        raise settings_file.left_alone(path, str(error)) from None
    return "installed" if found == len(EVENTS) else "partial" if found else "missing"


def _edited(file: settings_file.HookFile, edit: Callable[[str], str]) -> str:
    assert file.text is not None
    try:
        return edit(file.text)
    except NotEditable as error:
        raise settings_file.left_alone(file.path, str(error)) from None


def _remove(folder: Folder, name: str) -> None:
    if os.path.lexists(os.path.join(folder.path, name)):
        folder.delete(name)
