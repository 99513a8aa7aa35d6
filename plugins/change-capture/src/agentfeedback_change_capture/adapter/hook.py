"""`agentscm change-capture hook-claude`: what Claude Code runs on its own events.

The agent waits for it: standard input is bounded, a deadline of its own ends it, its status is always
0, and it prints only the guidance of a SessionStart. What it imports is held by a test.
"""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback_change_capture.delivery.hub import Hub

#: Seconds standard input may take.
INPUT_SECONDS = 2.0
#: Seconds after which nothing more is begun, and those after which the process ends whatever it waits for.
SECONDS = 16.0
LAST_SECOND = 16.8


def main(words: Sequence[str]) -> None:
    """Serve one event and end the process, with status 0."""
    started = time.monotonic()
    try:
        signal.signal(signal.SIGALRM, _end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        signal.setitimer(signal.ITIMER_REAL, LAST_SECOND)
        _standard_streams()
        _no_core()
        answer, warnings = serve(words, started)
        if answer:
            _write(1, f"{answer}\n")
        for text in warnings:
            _warn(text)
    except BaseException as error:  # noqa: BLE001 - no failure of ours may reach the harness
        _warn(_described(error))
    # Not even the interpreter's own end may change the status.
    os._exit(0)


def serve(
    words: Sequence[str],
    started: float,
    *,
    data: bytes | None = None,
    hub: Hub | None = None,
) -> tuple[str, list[str]]:
    """Keep one event and return what to answer and what to warn of.

    `words` are the flags of the command; without `data` the payload is read from standard input. What
    goes wrong is a warning: nothing is raised but for the end of the process.
    """
    run = None
    try:
        from agentfeedback.foundation.stdin import read_until
        from agentfeedback_change_capture.adapter import payload, serving
        from agentfeedback_change_capture.adapter.run import Run
        from agentfeedback_change_capture.delivery.hub import NoHub

        # Read in any case: a harness that cannot write its payload may take that for a failure.
        if data is None:
            data = read_until(started + INPUT_SECONDS, payload.LARGEST)
        flags = dict(zip(words[::2], words[1::2], strict=False))
        root = flags.get("--root", "")
        if not os.path.isabs(root):
            return "", ["the hook names no checkout; run agentscm change-capture configure again"]
        run = Run(
            root,
            flags.get("--runner", ""),
            hub or NoHub(),
            started + SECONDS,
            os.environ,
            int(time.time()),
        )
        serving.serve(run, data)
    except Exception as error:  # noqa: BLE001 - no failure of ours may reach the harness
        return (run.answer if run else ""), [*(run.warnings if run else []), _described(error)]
    return run.answer, run.warnings


def compile_all() -> None:
    """Import everything that hooks import: they write no byte code, so what is not compiled is compiled each time."""
    from agentfeedback.foundation import stdin  # noqa: F401
    from agentfeedback.foundation.git import root  # noqa: F401
    from agentfeedback.scrub import capture  # noqa: F401
    from agentfeedback_change_capture.adapter import bodies, managed, run, serving  # noqa: F401
    from agentfeedback_change_capture.delivery import hub  # noqa: F401
    from agentfeedback_change_capture.setup import rules  # noqa: F401
    from agentfeedback_change_capture.spool import lookup, spool  # noqa: F401


def _described(error: BaseException) -> str:
    try:
        from agentfeedback_change_capture.adapter.run import message_of

        return message_of(error)
    except BaseException:  # noqa: BLE001 - even of a damaged installation the kind of the error can be said
        return type(error).__name__


def _warn(text: str) -> None:
    """Write one line to standard error, without secrets of known formats and control characters."""
    try:
        from agentfeedback.scrub import CAPTURE, Scrubber
        from agentfeedback.terminal.screen import visible

        shown = visible(Scrubber(CAPTURE).text(text))
    except BaseException:  # noqa: BLE001 - what cannot be made safe is not shown
        shown = "an event was not kept"
    _write(2, f"agentscm: capture warning: {shown}\n")


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return


def _standard_streams() -> None:
    """Open what the harness left closed: the next file would get its number, and a warning would go into it."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _no_core() -> None:
    # Prompts are in this process's memory: a crash must not put them on the disk.
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _end(number: int, frame: object) -> None:
    # Not an exception: whatever is being waited for must not get the chance to go on waiting.
    os._exit(0)
