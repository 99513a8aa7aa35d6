"""What an installer promises: where a harness keeps its hooks, and what a hook keeps of a session."""

from __future__ import annotations

import copy
import inspect
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation import entry_points
from agentfeedback.harness_hooks import entries
from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.harness_hooks.own_command import commands, owner
from agentfeedback.reading.refs import valid_id

#: Shell commands that an entry has to carry as they are.
_COMMANDS = (
    "agentfeedback hook x stop",
    "'/new place/agentfeedback' hook x stop",
    '/\u00e9"\\/a b',
)
_PROGRAM = "/opt/bin/agentfeedback"
#: Values no harness should send, and that a hook meets all the same.
_ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "\0",
    "\ud800",
    "../x",
    "x" * 10_000,
    [],
    [[]],
    {},
    {"a": 1},
)
#: What may not be loaded on every turn of an agent.
_HEAVY = ("attr", "attrs", "cattrs", "msgspec", "orjson", "pluggy", "re2", "rich", "zstandard")
_LOADED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("installer_under_test", sys.argv[1])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
print(*sys.modules)
"""


class InstallerContract:
    """Every promise of an `Installer`, as a test.

    ```python
    class TestAiderHooks(InstallerContract):
        harness = "aider"
        payloads = [({"session_id": "s1", "cwd": "/srv/app"}, "s1")]
    ```
    """

    #: The name in the entry-point group `agentfeedback.installers`.
    harness: str = ""
    #: Payloads as the harness sends them, each with the session it speaks of. Needed where hooks keep something.
    payloads: Sequence[tuple[Mapping[str, Any], str]] = ()

    def installer(self) -> Installer:
        """The installer under test: found as the program finds it."""
        point = entry_points.entry_points_by_name(entry_points.INSTALLERS)[self.harness]
        found: Installer = entry_points.load_file(point)
        return found

    def file(self) -> str:
        """The file with the installer, which a hook loads alone."""
        return inspect.getfile(type(self.installer()))

    def test_it_is_the_installer_of_its_harness(self) -> None:
        """The entry point's name is the harness's name: it stands in the commands of the hook file."""
        installer = self.installer()
        assert isinstance(installer, Installer)
        assert installer.harness == self.harness
        assert shlex.quote(self.harness) == self.harness

    def test_events_are_words(self) -> None:
        """At least one, each once, and none that a shell would read differently."""
        events = self.installer().events
        assert events
        assert len(set(events)) == len(events)
        assert all(shlex.quote(event) == event for event in events)

    def test_the_hook_file_is_below_the_home(self, tmp_path: Path) -> None:
        """An absolute path below a home whose environment moves nothing; asking for it writes nothing."""
        home = str(tmp_path)
        path = self.installer().settings(home, {})
        assert os.path.commonpath([home, path]) == home != path
        assert path == self.installer().settings(home, {})
        assert os.listdir(home) == []

    def test_an_entry_calls_the_command(self) -> None:
        """The command stands in its member as it is, in an object of its own that JSON can hold."""
        installer = self.installer()
        for command in _COMMANDS:
            entry = installer.entry(command)
            assert entry[installer.command_member] == command
            assert json.loads(json.dumps(entry)) == entry
            entry["changed"] = True
            assert "changed" not in installer.entry(command)

    def test_a_new_file_wires_every_event_and_nothing_else(self) -> None:
        """What is written where no file was is recognised as ours, and removing it leaves no hook behind."""
        installer = self.installer()
        wanted, owns = commands(installer, _PROGRAM), owner(installer.harness)
        text = entries.made(installer, wanted)
        assert list(json.loads(text)["hooks"]) == list(installer.events)
        assert entries.was_made(text, installer, owns)
        assert entries.installed(text, installer, wanted, owns) == text
        assert not any(json.loads(entries.removed(text, installer, owns)).get("hooks", {}).values())

    def test_other_hooks_keep_every_byte(self) -> None:
        """Wiring and unwiring gives back the file there was, with the user's own hooks of the same events."""
        installer = self.installer()
        wanted, owns = commands(installer, _PROGRAM), owner(installer.harness)
        entry = installer.entry("make lint")
        other = {"hooks": [entry]} if installer.grouped else entry
        mine: dict[str, Any] = {"hooks": {event: [other] for event in installer.events}, "x": 1.50}
        for text in ("{}", "{ }\n", json.dumps(mine), json.dumps(mine, indent="\t") + "\r\n"):
            wired = entries.installed(text, installer, wanted, owns)
            assert list(entries.events(wired, installer, owns)) == list(installer.events)
            assert entries.removed(wired, installer, owns) == text

    def test_a_payload_names_its_session(self) -> None:
        """The sessions the harness names, each an id that can stand in a ref."""
        installer = self.installer()
        if not installer.indexes:
            return
        assert self.payloads, "name at least one payload of the harness in `payloads`"
        for payload, session in self.payloads:
            assert installer.session(payload) == session
            assert valid_id(session)

    def test_a_payload_is_kept_once(self, tmp_path: Path) -> None:
        """What is kept is JSON, of the same payload the same, and the payload is left as it was."""
        installer = self.installer()
        if not installer.indexes:
            return
        for payload, _ in self.payloads:
            kept: dict[str, Any] = {}
            before = copy.deepcopy(payload)
            installer.keep(kept, payload, str(tmp_path))
            assert kept, "nothing is kept of a payload"
            once = json.dumps(kept)
            installer.keep(kept, payload, str(tmp_path))
            assert json.dumps(kept) == once
            assert payload == before
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize("odd", _ODD, ids=lambda value: ascii(value)[:20])
    def test_no_payload_makes_it_raise(self, odd: Any, tmp_path: Path) -> None:
        """Members of any type or size, or none: a session that no ref can name is left out."""
        installer = self.installer()
        if not installer.indexes:
            return
        for payload, _ in [*self.payloads, ({}, "")]:
            for changed in ({}, *({**payload, member: odd} for member in payload)):
                session = installer.session(changed)
                assert session == "" or valid_id(session)
                kept: dict[str, Any] = {}
                installer.keep(kept, changed, str(tmp_path))
                json.dumps(kept)

    def test_it_loads_next_to_nothing(self) -> None:
        """It runs on every turn of an agent: its module loads no library, and not its own package."""
        done = subprocess.run(
            [sys.executable, "-c", _LOADED, self.file()], capture_output=True, text=True, check=True
        )
        assert not {name.partition(".")[0] for name in done.stdout.split()} & set(_HEAVY)
