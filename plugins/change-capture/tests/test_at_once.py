"""Many processes on one spool: their result is that of one after the other, and no number is taken twice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.facts import LOCAL
from agentfeedback_change_capture.spool.lookup import look_up
from agentfeedback_change_capture.spool.spool import Spool
from tests.support import capture, spool_laws
from tests.support.capture import (
    OBSERVED,
    accept_all,
    call,
    made_spool,
    stream,
    tool_finish,
    tool_start,
)

#: `nox -s crash` starts sixty.
PROCESSES = 60 if os.environ.get("AGENTFEEDBACK_CRASH") == "all" else 16


def _hook(spool: Path, number: int) -> None:
    who, use = stream(mode=LOCAL), f"t-{number % 8}"

    def held() -> Spool:
        return Spool.open(str(spool), capture.NAMESPACE, time.monotonic() + 60)

    with held() as one:
        one.append(who, capture.message(number))
    with held() as one:
        one.start(who, tool_start(use), call(use), capture.action())
    if number % 3 == 0:
        with held() as one:
            accept_all(one)
            one.compact()
    look_up(str(spool), OBSERVED, use)
    with held() as one:
        one.finish(who, tool_finish(use), call(use), capture.ending)
    with held() as one:
        one.append(who, capture.turn_end())


def test_hooks_at_once_while_some_are_killed(tmp_path: Path) -> None:
    """Each fact is there once, whoever compacts or dies meanwhile."""
    spool = made_spool(tmp_path / "private" / "spool")
    processes = {}
    for number in range(PROCESSES):
        process = os.fork()
        if process == 0:
            status = 1
            try:
                _hook(spool, number)
                status = 0
            finally:
                os._exit(status)
        processes[process] = number
    victims = [process for process, number in processes.items() if number % 8 == 7]
    time.sleep(0.05)
    for process in victims:
        os.kill(process, signal.SIGKILL)
    for process in processes:
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert status == 0 or (process in victims and status == -signal.SIGKILL)
    with Spool.open(str(spool), capture.NAMESPACE, time.monotonic() + 5, thorough=True):
        pass
    found = spool_laws.check(spool, {})
    survivors = [number for process, number in processes.items() if process not in victims]
    calls = {number % 8 for number in survivors}
    assert {(f"t-{number}", phase) for number in calls for phase in ("start", "finish")} <= {
        (use, phase)
        for use in (f"t-{number}" for number in range(8))
        for action, phase in found.action_phases()
        if action == identities.action_id(OBSERVED, use)
    }
    ids = found.event_ids()
    scope = found.json("scope.json")["observation_scope"]
    for number in survivors:
        identity = ("m-1", number)
        event = identities.provided_event(scope, OBSERVED, "MessageDisplay", identity)
        assert event in ids
