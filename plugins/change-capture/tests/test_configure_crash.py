"""`configure` stopped at every system call: hooks do nothing or their work, and configuring again ends the same."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError
from tests.support import disk
from tests.support.faulty import CHANGES, fail, faulty, kill, modules_of

ALL = os.environ.get("AGENTFEEDBACK_CRASH") == "all"


class Configuring:
    """A checkout that is configured once without a fault, and brought back to its beginning."""

    def __init__(self, checkout: Any) -> None:
        self.checkout = checkout
        self.before = disk.current(checkout.home)
        checkout.configure()
        checkout.send("SessionStart", source="startup")
        self.modules = modules_of("agentfeedback", "agentfeedback_change_capture")
        self.reset()
        with faulty(self.modules) as system:
            checkout.configure()
        self.calls = system.calls
        self.end = self.result()

    def reset(self) -> None:
        shutil.rmtree(self.checkout.spool, ignore_errors=True)
        disk.restore(self.checkout.home, self.before)

    def result(self) -> tuple[Any, bytes]:
        """What a user has at the end: the binding, apart from what is random in it, and the settings."""
        (binding,) = self.checkout.bindings()["bindings"]
        random = ("spool_id", "spool_inode")
        kept = {name: value for name, value in binding.items() if name not in random}
        return kept, self.checkout.settings.read_bytes()

    def points(self, sparse: int) -> list[int]:
        """Every point, or of those that change the disk each `sparse`-th."""
        changes = [at for at, name in enumerate(self.calls, 1) if name in CHANGES]
        return [*range(1, len(self.calls) + 1)] if ALL else changes[::sparse]

    def ends_well(self) -> None:
        """A hook never fails, whatever is there; configuring again brings the same end."""
        answer, _ = self.checkout.send("SessionStart", source="startup")
        assert answer == ""
        settings = self.checkout.settings
        if settings.exists():
            json.loads(settings.read_bytes())
        try:
            self.checkout.configure()
        except AgentFeedbackError as refused:
            # Only a spool that was not committed: nothing in it changes until its owner removes it.
            assert "not a committed spool" in str(refused)
            assert not (self.checkout.spool / "format.json").exists()
            shutil.rmtree(self.checkout.spool)
            self.checkout.configure()
        assert self.result() == self.end
        left = [path.name for path in settings.parent.iterdir()]
        assert not [name for name in left if name.endswith(".agentscm-new")]
        self.checkout.send("SessionStart", source="startup")
        assert self.checkout.events()


@pytest.fixture
def configuring(checkout: Any) -> Configuring:
    found = Configuring(checkout)
    changes = [name for name in found.calls if name in CHANGES]
    print(f"whole configure: {len(found.calls)} system calls, {len(changes)} change the disk")
    assert len(found.calls) >= 250 and len(changes) >= 60
    return found


def test_configure_killed_before_any_call(configuring: Configuring) -> None:
    """Hooks without a binding do nothing, and a spool without one is adopted."""
    for at in configuring.points(9):
        configuring.reset()
        process = os.fork()
        if process == 0:
            try:
                with faulty(configuring.modules, at, kill):
                    configuring.checkout.configure()
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        configuring.ends_well()


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
def test_configure_told_that_a_call_failed(configuring: Configuring, number: int) -> None:
    """It is an error that names a file, not a traceback; what was done before is harmless."""
    for at in configuring.points(13):
        configuring.reset()
        suppressed = contextlib.suppress(AgentFeedbackError)
        with faulty(configuring.modules, at, fail(number)), suppressed:
            configuring.checkout.configure()
        configuring.ends_well()


def test_configure_cut_off_by_a_power_failure(configuring: Configuring) -> None:
    """The binding is on the disk after everything that it says."""
    home: Path = configuring.checkout.home
    configuring.reset()
    states: list[disk.State] = []
    follower = disk.Disk(home)

    class Watcher:
        def saw(self, name: str, arguments: Any, more: Any, answer: Any) -> None:
            follower.saw(name, arguments, more, answer)
            if name in CHANGES:
                states.extend(follower.states())

    with faulty(configuring.modules, watcher=Watcher()):
        configuring.checkout.configure()
    # From the last to the first: what the commit of the spool names is still there, with its inodes.
    bound = 0
    for state in reversed(states if ALL else states[::23]):
        disk.restore(home, state)
        answer, warnings = configuring.checkout.send("SessionStart", source="startup")
        assert answer == ""
        binding = state.get(".config/agentscm/change-capture.json")
        if binding is not None:
            bound += 1
            assert json.loads(binding)["bindings"][0]["enabled"] and not warnings
            assert b"hook-claude" in (state["shop/.claude/settings.local.json"] or b"")
    assert bound
    configuring.reset()
    configuring.ends_well()
