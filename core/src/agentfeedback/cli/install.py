"""`agentfeedback install` and `uninstall`: wire harnesses to `agentfeedback hook`, and back."""

from __future__ import annotations

import os
import shlex
import sys
import time
from typing import TYPE_CHECKING

from attrs import frozen

from agentfeedback.foundation import entry_points
from agentfeedback.foundation.errors import AgentFeedbackError, PluginError, UsageError, reason_of
from agentfeedback.foundation.files import directory
from agentfeedback.foundation.lock import FileLock
from agentfeedback.foundation.paths import cache_directory
from agentfeedback.harness_hooks import entries, settings_file
from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.harness_hooks.json_edit import NotEditable
from agentfeedback.harness_hooks.own_command import commands, owner
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import closest
from agentfeedback.wire import records
from agentfeedback.wire.encode import json_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentfeedback.terminal.arguments import Parsed

#: Seconds to wait for another installation.
_PATIENCE = 5.0


@frozen(eq=False)
class _Change:
    """What one harness's hook file becomes; `text` None removes it. `events` are those whose entries change."""

    installer: Installer
    file: settings_file.HookFile
    text: str | None
    events: list[str]

    @property
    def changes(self) -> bool:
        return self.text != self.file.text


def run_install(line: Parsed) -> int:
    """`install <harness>...`."""
    # Compiled here, once: a hook writes no byte code.
    from agentfeedback.cli import hook  # noqa: F401
    from agentfeedback.harness_hooks import session_cache  # noqa: F401

    return _run(line, "install")


def run_uninstall(line: Parsed) -> int:
    """`uninstall <harness>...`."""
    return _run(line, "uninstall")


def _run(line: Parsed, command: str) -> int:
    installers = _named(line.positionals, command)
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise AgentFeedbackError(
            "$HOME is not set to an absolute path", "set it to your home directory"
        )
    planned = _change if command == "install" else _removal
    if line.dry_run:
        changes = [planned(installer, home) for installer in installers]
    else:
        changes = _changed(planned, installers, home)
    shown = _shown(command, changes, dry_run=line.dry_run)
    if line.json:
        screen.write(json_line(shown))
        return 0
    for change in changes:
        screen.write(_sentence(command, change, dry_run=line.dry_run))
    screen.write(screen.visible(shown.diff, keep_newlines=True))
    for sentence in shown.next:
        screen.write(f"{sentence}\n")
    return 0


def _changed(
    planned: Callable[[Installer, str], _Change], installers: list[Installer], home: str
) -> list[_Change]:
    lock = os.path.join(cache_directory(os.environ, home), "hooks", "install.lock")
    try:
        directory(os.path.dirname(lock))
        with FileLock(lock, time.monotonic() + _PATIENCE):
            # All are read before the first is written, so that a file that is refused stops the rest.
            changes = [planned(installer, home) for installer in installers]
            for change in changes:
                if change.changes:
                    settings_file.write(change.file, change.text)
            return changes
    except OSError as error:
        remedy = "check the permissions of its folder and the room on its disk"
        if isinstance(error, TimeoutError):
            remedy = "try again once no other install runs"
        raise AgentFeedbackError(f"{lock} cannot be locked: {reason_of(error)}", remedy) from error


def _change(installer: Installer, home: str) -> _Change:
    file = settings_file.read(installer.settings(home, os.environ))
    wanted = commands(installer, _program())
    if file.text is None:
        text = entries.made(installer, wanted)
    else:
        owns = owner(installer.harness)
        text = _edited(file, lambda old: entries.installed(old, installer, wanted, owns))
    return _Change(installer, file, text, list(installer.events))


def _removal(installer: Installer, home: str) -> _Change:
    file = settings_file.read(installer.settings(home, os.environ))
    if file.text is None:
        return _Change(installer, file, None, [])
    owns = owner(installer.harness)
    text: str | None = _edited(file, lambda old: entries.removed(old, installer, owns))
    events = entries.events(file.text, installer, owns)
    # Behind a link is a file that somebody keeps elsewhere: it is emptied of ours and stays.
    if entries.was_made(file.text, installer, owns) and not os.path.islink(file.path):
        text = None
    return _Change(installer, file, text, events)


def _edited(file: settings_file.HookFile, edit: Callable[[str], str]) -> str:
    assert file.text is not None
    try:
        return edit(file.text)
    except NotEditable as error:
        raise settings_file.left_alone(file.path, str(error)) from None


def _program() -> str:
    """How the harness can call this very program, quoted for the shell."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "agentfeedback" and os.path.isfile(script):
        words = [script]
    else:
        words = [sys.executable, "-m", "agentfeedback"]
    program = shlex.join(words)
    try:
        program.encode()
    except UnicodeEncodeError:
        raise AgentFeedbackError(
            f"{words[0]} is not UTF-8, so no hook file can name it",
            "install agentfeedback elsewhere",
        ) from None
    return program


def _named(names: list[str], command: str) -> list[Installer]:
    points = entry_points.entry_points_by_name(entry_points.INSTALLERS)
    if any(name not in points for name in names):
        points = {**entry_points.slow_entry_points_by_name(entry_points.INSTALLERS), **points}
    blocked = entry_points.blocked(os.environ)
    have = ", ".join(sorted(name for name in points if name not in blocked)) or "none"
    if not names:
        raise UsageError(f"name the harness to {command}", f"those with hooks here are {have}")
    found = []
    for name in dict.fromkeys(names):
        if name not in points or name in blocked:
            near = closest(name, sorted(set(points).difference(blocked)))
            hint = f"did you mean {near}? " if near else ""
            from agentfeedback.plugins.harnesses import HARNESSES, dist_of
            from agentfeedback.plugins.install_hint import pip_install

            # Whoever names a plugin here wants it installed, which is not what this command does.
            dist = dist_of(name) if name in HARNESSES else "<distribution>"
            raise UsageError(
                f'there are no hooks for the harness "{name}"',
                f"{hint}{command} is about hooks, those of {have}; "
                f"a plugin is installed with {pip_install(dist)}",
            )
        from agentfeedback.terminal.foreign import ForeignImport, described

        try:
            with ForeignImport():
                installer = entry_points.load_file(points[name])
            if not isinstance(installer, Installer):
                raise TypeError("it is not an Installer")
        except Exception as error:
            raise PluginError(
                f"the hooks of {name} could not be loaded: {described(error)}",
                "run agentfeedback plugins",
            ) from error
        found.append(installer)
    return found


def _shown(command: str, changes: list[_Change], *, dry_run: bool) -> records.Wiring:
    changed = [change for change in changes if change.changes]
    return records.Wiring(
        status="changed" if changed else "unchanged",
        harnesses=[change.installer.harness for change in changes],
        changed=[os.fsencode(change.file.path).decode(errors="replace") for change in changed],
        dry_run=dry_run,
        diff="".join(map(_diff, changed)) if dry_run else "",
        next=[
            change.installer.next
            for change in changed
            if command == "install" and change.installer.next
        ],
    )


def _diff(change: _Change) -> str:
    from difflib import unified_diff

    from agentfeedback.scrub import SUBMIT, Scrubber

    path = change.file.path
    lines = unified_diff(
        (change.file.text or "").splitlines(keepends=True),
        (change.text or "").splitlines(keepends=True),
        path,
        path,
        n=1,
    )
    ended = (line if line.endswith("\n") else f"{line}\n" for line in lines)
    # Settings may hold keys, and a file of one line shows them all.
    return Scrubber(SUBMIT).text("".join(ended))


def _sentence(command: str, change: _Change, *, dry_run: bool) -> str:
    harness, path = change.installer.harness, screen.visible(change.file.path)
    events = screen.visible(", ".join(change.events))
    if command == "install":
        if not change.changes:
            return f"{harness}: already wired in {path}\n"
        verb = "would wire" if dry_run else "wired"
        return f"{harness}: {verb} {events} in {path}\n"
    if not change.changes:
        return f"{harness}: nothing of agentfeedback in {path}\n"
    verb = "would remove" if dry_run else "removed"
    return f"{harness}: {verb} {events} from {path}\n"
