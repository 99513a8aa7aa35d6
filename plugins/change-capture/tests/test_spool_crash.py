"""Every operation of a spool, stopped at every system call: killed, told of an error, or by a power cut.

The suite looks at a part of the points; `nox -s crash` looks at all of them, which
AGENTFEEDBACK_CRASH=all asks for.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture.facts import LOCAL, Target
from agentfeedback_change_capture.spool.export import ExportFailed, export
from agentfeedback_change_capture.spool.initialise import initialise
from agentfeedback_change_capture.spool.limits import SpoolLimits
from agentfeedback_change_capture.spool.outcome import SpoolFull, SpoolRefused
from tests.support import capture, disk, spool_laws
from tests.support.capture import (
    OBSERVED,
    accept_all,
    call,
    opened,
    stream,
    tool_finish,
    tool_start,
)
from tests.support.faulty import CHANGES, fail, faulty, kill, modules_of
from tests.support.killing import CHANGING, require_tracing, traced
from tests.support.managed_run import Runner

ALL = os.environ.get("AGENTFEEDBACK_CRASH") == "all"
MODULES = modules_of("agentfeedback.foundation", "agentfeedback_change_capture")


class Scenario:
    """An operation on a prepared spool: `run` is what a hook or command does, and does again after a crash.

    `fewest` is how many system calls it makes at least, and `changes` how many of them change the
    disk: fewer would be a promise less, or a point that is not looked at.
    """

    def __init__(
        self,
        prepare: Callable[[Path], None],
        run: Callable[[Path], None],
        fewest: int,
        changes: int,
        removes: tuple[str, ...] = (),
    ) -> None:
        self.prepare = prepare
        self.run = run
        self.fewest = fewest
        self.changes = changes
        self.removes = removes


WHO = stream(mode=LOCAL)
ALIASED = stream("native-2", Target("wrk_demo", 2, "ses_other"), mode=LOCAL)


def _began(spool: Path) -> None:
    capture.made_spool(spool)
    with opened(spool) as held:
        held.append(WHO, capture.session_start())


def _started(spool: Path) -> None:
    _began(spool)
    with opened(spool) as held:
        held.start(WHO, tool_start(), call(), capture.action())


def _called(spool: Path) -> None:
    _began(spool)
    recipe = {"digest": "8" * 64, "id": "unit-test"}
    with opened(spool) as held:
        held.start(WHO, tool_start(), call(), None, recipe=recipe)


def _run_managed(spool: Path) -> None:
    with opened(spool) as held:
        Runner(held).start()
    with opened(spool) as held:
        Runner(held).finish()
    with opened(spool) as held:
        held.finish(WHO, tool_finish(), call(), None)


def _went_out(spool: Path) -> None:
    _began(spool)
    with opened(spool) as held:
        held.append(ALIASED, capture.turn_end())
        held.defer("native-2", capture.prompt(), "unavailable", LOCAL)


def _finished(spool: Path) -> None:
    _started(spool)
    with opened(spool) as held:
        held.finish(WHO, tool_finish(), call(), capture.ending)
        held.append(WHO, capture.message())


def _accepted(spool: Path) -> None:
    _finished(spool)
    with opened(spool) as held:
        accept_all(held)
        held.start(WHO, tool_start("t-9"), call("t-9"), capture.action())


def _littered(spool: Path) -> None:
    _finished(spool)
    for folder in ("", "outbox/", "artifacts/", "sessions/"):
        (spool / f"{folder}debris").write_bytes(folder.encode() + b"debris")
        (spool / f"{folder}debris").chmod(0o600)
    broken = spool / "artifacts" / f".t.{'a' * 64}.{'0' * 16}"
    broken.write_bytes(b"half")
    broken.chmod(0o600)


def _quarantined(spool: Path) -> None:
    _littered(spool)
    with opened(spool):
        pass


def _filled(spool: Path) -> None:
    capture.made_spool(spool, SpoolLimits(records=48))
    with opened(spool) as held:
        held.append(stream("native-0"), capture.session_start())
        with contextlib.suppress(SpoolFull):
            for number in range(100):
                held.keep_artifact(bytes([number]))


def _event(spool: Path) -> None:
    with opened(spool) as held:
        held.append(ALIASED, capture.message(text="a body", message_id="m-2"))


def _claim(spool: Path) -> None:
    with opened(spool) as held:
        held.start(WHO, tool_start(), call(), capture.action())


def _finish(spool: Path) -> None:
    with opened(spool) as held:
        held.finish(WHO, tool_finish(), call(), capture.ending)


def _close(spool: Path) -> None:
    with opened(spool) as held:
        held.close_starts(OBSERVED, capture.NOW, agent_id=None)


def _outage(spool: Path) -> None:
    with opened(spool) as held:
        held.defer("native-2", capture.message(message_id="m-3"), "unavailable", LOCAL)
    with opened(spool) as held:
        held.append(ALIASED_LATER, capture.message(message_id="m-4"))


ALIASED_LATER = stream("native-2", Target("wrk_demo", 3, "ses_other"), mode=LOCAL)


def _deliver(spool: Path) -> None:
    with opened(spool) as held:
        accept_all(held)


def _compact(spool: Path) -> None:
    with opened(spool) as held:
        held.compact()


def _open(spool: Path) -> None:
    with opened(spool):
        pass


def _prune(spool: Path) -> None:
    with opened(spool) as held:
        held.prune(sorted(os.listdir(spool / "quarantine")))


def _configure(spool: Path) -> None:
    with opened(spool) as held:
        held.set_limits(SpoolLimits(records=8192))
        held.bind_checkout("/work/demo", 1, 2)
        held.keep_artifact(b'{"id":"unit-test"}')


def _pause(spool: Path) -> None:
    with opened(spool) as held:
        held.append(stream("native-0"), capture.message(message_id="m-5"))


SCENARIOS = {
    "managed run": Scenario(_called, _run_managed, 608, 58, ("attempts/",)),
    "configure": Scenario(_began, _configure, 169, 15),
    "event": Scenario(_began, _event, 164, 16),
    "claim": Scenario(_began, _claim, 211, 28),
    "finish": Scenario(_started, _finish, 210, 24),
    "closing": Scenario(_started, _close, 187, 12),
    "deferral and outage": Scenario(_went_out, _outage, 408, 40),
    "delivery": Scenario(_finished, _deliver, 320, 48),
    "compaction": Scenario(
        _accepted, _compact, 367, 32, ("outbox/", "acks/", "observations/", "actions/")
    ),
    "quarantine": Scenario(_littered, _open, 173, 15),
    "prune": Scenario(_quarantined, _prune, 162, 10, ("quarantine/",)),
    "pause": Scenario(_filled, _pause, 198, 12),
}


class Prepared:
    """A scenario at its beginning, to which it can be brought back with the same inodes."""

    def __init__(self, scenario: Scenario, top: Path) -> None:
        self.scenario = scenario
        self.top = top
        self.spool = top / "private" / "spool"
        scenario.prepare(self.spool)
        self.before = disk.current(top)
        self.records = disk.current(self.spool)
        with faulty(MODULES) as system:
            scenario.run(self.spool)
        self.calls = system.calls
        assert not system.opened
        self.end = spool_laws.check(self.spool, self.records, removes=scenario.removes)
        self.reset()

    def reset(self) -> None:
        disk.restore(self.top, self.before)

    def recovers(self) -> None:
        """The spool opens, its laws hold, a second recovery changes nothing, and the operation can be done again."""
        for thorough in (False, True):
            opened(self.spool, thorough=thorough).close()
            found = spool_laws.check(self.spool, self.records, removes=self.scenario.removes)
        again = disk.current(self.spool)
        opened(self.spool).close()
        assert disk.current(self.spool) == again, "a second recovery changed something"
        self.scenario.run(self.spool)
        found = spool_laws.check(self.spool, self.records, removes=self.scenario.removes)
        assert found.event_ids() == self.end.event_ids()
        assert found.action_phases() == self.end.action_phases()
        assert len(found.below("acks/")) == len(self.end.below("acks/"))
        assert len(found.below("deferred/")) == len(self.end.below("deferred/"))


@pytest.fixture(params=SCENARIOS)
def prepared(request: pytest.FixtureRequest, tmp_path: Path) -> Prepared:
    found = Prepared(SCENARIOS[request.param], tmp_path)
    changes = [name for name in found.calls if name in CHANGES]
    print(f"{request.param}: {len(found.calls)} system calls, {len(changes)} change the disk")
    assert len(found.calls) >= found.scenario.fewest
    assert len(changes) >= found.scenario.changes
    return found


def points(calls: list[str], sparse: int) -> Iterator[int]:
    """The points to look at, from 1 on: all, or of those that change the disk each `sparse`-th and the last."""
    changes, total = 0, sum(name in CHANGES for name in calls)
    for at, name in enumerate(calls, 1):
        changes += name in CHANGES
        if ALL or (name in CHANGES and (changes % sparse == 0 or changes == total)):
            yield at


def test_killed_before_any_call(prepared: Prepared) -> None:
    """Whatever a killed process left is completed, removed or set aside by the next one."""
    for at in points(prepared.calls, 5):
        prepared.reset()
        process = os.fork()
        if process == 0:
            try:
                with faulty(MODULES, at, kill):
                    prepared.scenario.run(prepared.spool)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        prepared.recovers()


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
def test_told_by_any_call_that_it_failed(prepared: Prepared, number: int) -> None:
    """The error is raised or of no consequence; no descriptor is left open, and nothing is lost."""
    for at in points(prepared.calls, 8):
        prepared.reset()
        suppressed = contextlib.suppress(OSError, AgentFeedbackError)
        with faulty(MODULES, at, fail(number)) as system, suppressed:
            prepared.scenario.run(prepared.spool)
        assert not system.opened, f"call {at} ({prepared.calls[at - 1]}) leaves a descriptor open"
        prepared.recovers()


def test_power_cut_before_any_change(prepared: Prepared) -> None:
    """What was not flushed may be gone, or a name may be there before its content: both recover."""
    for state in _cuts(prepared.top, prepared.scenario.run, prepared.spool, 7):
        prepared.reset()
        disk.restore(prepared.top, state)
        prepared.recovers()


def _cuts(top: Path, run: Callable[[Path], None], spool: Path, sparse: int) -> list[disk.State]:
    """The different states that a power cut after each change can leave, in order."""
    found: list[disk.State] = []
    seen: set[int] = set()
    follower = disk.Disk(top)
    changes = 0

    class Watcher:
        def saw(self, name: str, arguments: tuple, more: dict, answer: object) -> None:
            nonlocal changes
            follower.saw(name, arguments, more, answer)
            if name not in CHANGES:
                return
            changes += 1
            for at, state in enumerate(follower.states()):
                key = hash(tuple(sorted(state.items(), key=lambda item: item[0])))
                if key not in seen and (ALL or (changes + at) % sparse == 0):
                    seen.add(key)
                    found.append(state)

    with faulty(MODULES, watcher=Watcher()):
        run(spool)
    return found


# -- a spool that begins ------------------------------------------------------------------------


def _init(spool: Path) -> None:
    initialise(str(spool), capture.NAMESPACE, SpoolLimits(), created_at=capture.NOW)


def _began_whole_or_not_at_all(spool: Path) -> bool:
    """Whether a spool is committed; where it is not, it is refused and nothing in it changes."""
    before = disk.current(spool.parent)
    try:
        opened(spool).close()
    except SpoolRefused as error:
        assert error.code in ("missing", "uncommitted")
        assert disk.current(spool.parent) == before
        if before.keys() - {spool.name}:
            with pytest.raises(SpoolRefused):
                _init(spool)
            assert disk.current(spool.parent) == before
        else:
            _init(spool)
            opened(spool).close()
        return False
    with opened(spool) as held:
        held.append(WHO, capture.session_start())
    return True


def test_initialisation_stopped_anywhere(tmp_path: Path) -> None:
    """Until its last rename a spool is refused with its bytes untouched; from there on it is whole."""
    spool = tmp_path / "private" / "spool"
    spool.parent.mkdir(mode=0o700)
    with faulty(MODULES) as system:
        _init(spool)
    print(f"init: {len(system.calls)} system calls")
    assert len(system.calls) >= 102 and not system.opened
    ends = {kind: set[bool]() for kind in ("kill", "error", "cut")}
    for at in points(system.calls, 4):
        shutil.rmtree(spool)
        process = os.fork()
        if process == 0:
            try:
                with faulty(MODULES, at, kill):
                    _init(spool)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        ends["kill"].add(_began_whole_or_not_at_all(spool))
        for number in (errno.EIO, errno.ENOSPC):
            shutil.rmtree(spool, ignore_errors=True)
            suppressed = contextlib.suppress(OSError, AgentFeedbackError)
            with faulty(MODULES, at, fail(number)) as failing, suppressed:
                _init(spool)
            assert not failing.opened
            ends["error"].add(_began_whole_or_not_at_all(spool))
    shutil.rmtree(spool)
    # One run is cut after each change: the inodes that its commit names are those of this run.
    cuts = _cuts(tmp_path, _init, spool, 1)
    for state in reversed(cuts):
        disk.restore(tmp_path, state)
        ends["cut"].add(_began_whole_or_not_at_all(spool) if spool.parent.exists() else False)
    assert ends["kill"] >= {False} and ends["error"] == {True, False} == ends["cut"]


# -- an archive --------------------------------------------------------------------------------


def test_an_export_stopped_anywhere(tmp_path: Path) -> None:
    """The source is the same to the byte; a failure names what it left, and nothing is deleted."""
    spool = tmp_path / "private" / "spool"
    _accepted(spool)
    archive = tmp_path / "private" / "archive"
    before = disk.current(spool)
    with faulty(MODULES) as system:
        export(str(spool), str(archive), DEADLINE)
    # A few of them walk up from the archive, so their number depends on how deep it is.
    print(f"export: {len(system.calls)} system calls")
    assert len(system.calls) >= 680 and not system.opened
    whole = {name: data for name, data in disk.current(archive).items() if name != "export.json"}
    assert whole == before
    for number in (errno.EIO, errno.ENOSPC):
        for at in points(system.calls, 9):
            _removed(spool)
            with faulty(MODULES, at, fail(number)) as failing:
                try:
                    export(str(spool), str(archive), DEADLINE)
                except ExportFailed as error:
                    left = [each for each in spool.parent.iterdir() if each != spool]
                    assert all(str(each) in error.problem for each in left)
                except AgentFeedbackError:
                    assert list(spool.parent.iterdir()) == [spool]
            assert not failing.opened and disk.current(spool) == before
    for at in points(system.calls, 9):
        _removed(spool)
        process = os.fork()
        if process == 0:
            try:
                with faulty(MODULES, at, kill):
                    export(str(spool), str(archive), DEADLINE)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        assert disk.current(spool) == before
        opened(spool).close()
        assert disk.current(spool) == before


def test_the_seam_sees_what_the_system_sees(tmp_path: Path) -> None:
    """A tracer counts the same changes of the disk as the seam that puts the faults in."""
    require_tracing()
    prepared = Prepared(SCENARIOS["claim"], tmp_path)

    def run(tell: int) -> None:
        prepared.scenario.run(prepared.spool)
        os.write(tell, b".")

    status, told, stops = traced(run, 0, calls=CHANGING)
    changes = [name for name in prepared.calls if name in CHANGES]
    flushes = changes.count("fsync")  # not waited for in these tests
    assert (status, told) == (0, b".")
    # There is a stop before each change and one after it, and two for the answer.
    assert stops == 2 * (len(changes) - flushes) + 2


DEADLINE = 2.0**40


def _removed(spool: Path) -> None:
    for each in spool.parent.iterdir():
        if each != spool:
            shutil.rmtree(each)
