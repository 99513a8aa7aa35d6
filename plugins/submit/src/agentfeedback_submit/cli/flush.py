"""`agentfeedback flush` and `ingest`: reports that wait, sent or filed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback.wire.encode import encode, plain
from agentfeedback_submit.context import SubmitContext
from agentfeedback_submit.delivery.destination import Destination, Local, Remote
from agentfeedback_submit.delivery.flush import FlushRun
from agentfeedback_submit.delivery.inbox import Inbox
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.delivery.outcome_log import Line
from agentfeedback_submit.remote.client import Client
from agentfeedback_submit.remote.server import LOCAL, one_mode

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed

#: Seconds after the start of a hook: nothing more is sent, and the last answer has to be there. A
#: harness allows five; the start of the interpreter is not in them.
_SENDING, _LAST = 3.2, 4.2


def run_flush(line: Parsed) -> int:
    """`flush`: one pass over the spool for one destination; exit status 0 also when reports still wait."""
    if line.hook:
        return _hook()
    one_mode(local=line.local, server=line.server)
    no_names(line, "flush")
    run = _run("flush")
    run.warn_of_policy()
    server = run.server(local=line.local, server=line.server)
    destination: Destination = Local(run.service) if server is None else Remote(Client(server))
    each = FlushRun(run.spool, destination, run.tell, run.scrub)
    verdict = run.gate.after_read([run.directory])
    if verdict is not None:
        return _disabled(run, verdict.reason)
    try:
        found = each.run()
        if server is None and not found.stopped:
            Inbox(run.data, destination, run.tell, run.scrub).run()
    except OSError as error:
        raise _unusable(error) from error
    for other, count in sorted(each.others.items()):
        how = "--local" if other == LOCAL else f"--server {other}"
        reports = "1 report is" if count == 1 else f"{count} reports are"
        screen.note(
            f"agentfeedback flush: {reports} for {other}; send with agentfeedback flush {how}."
        )
    screen.write(encode(found) + b"\n")
    return 0


def run_ingest(line: Parsed) -> int:
    """`ingest`: one pass over the inbox."""
    one_mode(local=line.local, server=line.server)
    no_names(line, "ingest")
    run = _run("ingest")
    run.warn_of_policy()
    server = run.server(local=line.local, server=line.server)
    if server is None:
        run.start(inbox=False)
    destination: Destination = Local(run.service) if server is None else Remote(Client(server))
    verdict = run.gate.after_read([run.directory])
    if verdict is not None:
        return _disabled(run, verdict.reason)
    inbox = Inbox(run.data, destination, run.tell, run.scrub)
    try:
        found = inbox.run()
    except OSError as error:
        raise _unusable(error) from error
    for path in inbox.skipped:
        screen.note(f"agentfeedback ingest: {path} is not a regular file and was left there.")
    if line.json:
        screen.write(encode(found) + b"\n")
    else:
        shown = (f"{count} {name}" for name, count in plain(found).items())
        screen.write(", ".join(shown) + "\n")
    return 0


def _disabled(run: SubmitContext, rule: str) -> int:
    """What is printed where the policy switches the working directory off: nothing is sent or filed."""
    outcome = SubmitOutcome("disabled", reason=rule)
    run.log(outcome)
    screen.write(encode(outcome) + b"\n")
    return outcome.exit_status


def _hook() -> int:
    """What a harness waits for at the end of a turn: never a word, never a failure, never long."""
    started = time.monotonic()
    try:
        run = SubmitContext(
            os.environ, Host(os.environ, lambda sentence: None), _working_directory()
        )
    except AgentFeedbackError:
        return 0  # without a home there is not even a place for a line of the log
    try:
        server = run.server()
        if server is not None:
            destination = Remote(Client(server), started + _LAST)
            until = started + _SENDING
            if run.gate.after_read([run.directory]) is None:
                FlushRun(run.spool, destination, run.tell, run.scrub, until=until).run()
    except Exception as error:  # noqa: BLE001 - no failure of ours may reach the harness
        run.tell(Line(outcome="hook_failed", reason=type(error).__name__))
    return 0


def _run(command: str) -> SubmitContext:
    host = Host(
        os.environ, lambda sentence: screen.note(f"agentfeedback {command}: warning: {sentence}")
    )
    return SubmitContext(os.environ, host, _working_directory())


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _unusable(error: OSError) -> AgentFeedbackError:
    paths = [path for path in (error.filename, error.filename2) if isinstance(path, str)]
    where = f"{' to '.join(paths)}: " if paths else ""
    return AgentFeedbackError(
        f"reports that wait cannot be dealt with: {where}{reason_of(error)}",
        "correct that and run the command again; nothing was lost",
    )
