"""`agentfeedback hook <harness> <event>`: what a harness calls on its own events.

A harness waits for it: standard input is bounded, a deadline of its own ends it, it prints nothing
and its status is always 0. What it may import is a list in `docs/reference/hooks-in.md`, kept by a test.
"""

from __future__ import annotations

# `signal` itself makes enumerations of its numbers, which is half of the time of a hook.
import _signal as signal  # type: ignore[import-not-found]
import os
import time

from agentfeedback.foundation.stdin import read_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agentfeedback.harness_hooks.installer import Installer

#: The largest payload that is read, in bytes.
PAYLOAD_LIMIT = 1 << 20
#: Seconds standard input may take.
INPUT_SECONDS = 1.0
#: Seconds after which nothing more is begun.
SECONDS = 1.5
#: Seconds after which the process ends, whatever it waits for. Harnesses allow five.
LAST_SECOND = 2.5
_LOG_LIMIT = 10 << 20


def run(words: Sequence[str]) -> int:
    """Serve one event; `words` are harness and event. Always 0."""
    started = time.monotonic()
    previous = signal.signal(signal.SIGALRM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, LAST_SECOND)
    try:
        home = os.environ.get("HOME", "")
        if len(words) == 2 and os.path.isabs(home):
            _serve(words[0], words[1], home, started)
    except BaseException as error:  # noqa: BLE001 - no failure of ours may reach the harness
        _log(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous or signal.SIG_DFL)
    return 0


def _serve(harness: str, event: str, home: str, started: float) -> None:
    installer = _installer(harness)
    if installer is None or event not in installer.events:
        return
    from agentfeedback.foundation.files import directory
    from agentfeedback.foundation.lock import FileLock
    from agentfeedback.foundation.paths import cache_directory
    from agentfeedback.harness_hooks import session_cache

    deadline = started + SECONDS
    # Read in any case: a harness that cannot write its payload may take that for a failure.
    data = read_until(started + INPUT_SECONDS, PAYLOAD_LIMIT)
    folder = cache_directory(os.environ, home)
    if installer.indexes:
        payload = _object(data)
        id = installer.session(payload)
        if id:
            where = session_cache.session_folder(folder, harness)
            session_cache.update(
                where, id, lambda kept: installer.keep(kept, payload, home), deadline
            )
    runs, last_run = os.path.join(folder, "hooks"), f"{harness}.json"
    directory(runs)
    with FileLock(os.path.join(runs, last_run + session_cache.LOCK), deadline):
        # Neither name needs escaping: both are an installer's own.
        line = f'{{"ts":"{session_cache.stamp(time.time())}","event":"{event}"}}'
        session_cache.kept_in(runs).put(last_run, line.encode(), replace=True)
    if installer.indexes:
        session_cache.prune(folder, deadline)


def _installer(harness: str) -> Installer | None:
    from agentfeedback.foundation import entry_points

    if harness in entry_points.blocked(os.environ):
        return None
    value = entry_points.entry_points_by_name(entry_points.INSTALLERS).get(harness)
    if value is None:
        value = entry_points.slow_entry_points_by_name(entry_points.INSTALLERS).get(harness)
    if value is None:
        return None
    installer: Installer = entry_points.load_file(value)
    return installer


def _object(data: bytes) -> Mapping[str, Any]:
    """The payload; raises ValueError or TypeError when it is too large or no JSON object."""
    import json

    if len(data) > PAYLOAD_LIMIT:
        raise ValueError("the payload is too large")
    payload = json.loads(data)
    if not isinstance(payload, dict):
        raise TypeError("the payload is not an object")
    return payload


def _log(error: BaseException) -> None:
    """One line in the outcome log, without any text of the payload; where even that fails, nothing."""
    try:
        from agentfeedback.foundation.folder import Folder
        from agentfeedback.foundation.paths import cache_directory
        from agentfeedback.harness_hooks import session_cache

        cache = cache_directory(os.environ, os.environ.get("HOME", ""))
        number = getattr(error, "errno", None)
        reason = (
            f"{type(error).__name__} {number}" if isinstance(number, int) else type(error).__name__
        )
        line = f'{{"ts":"{session_cache.stamp(time.time())}","outcome":"hook_failed","reason":"{reason}"}}\n'
        log = Folder(os.path.join(cache, "log"), durable=False)
        log.append("client.jsonl", line.encode(), limit=_LOG_LIMIT)
    except Exception:  # noqa: BLE001 - a full disk also takes no log line, and the harness must not notice
        return


def _end(number: int, frame: object) -> None:
    # Not an exception: whatever is being waited for must not get the chance to go on waiting.
    os._exit(0)
