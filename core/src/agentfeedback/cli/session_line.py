"""What the commands on sessions have in common: the host and the engine of a line, and what is said on standard error."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agentfeedback.cli.home import home_of
from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.harnesses import dist_of
from agentfeedback.plugins.host import Host
from agentfeedback.sessions.engine import Engine
from agentfeedback.terminal import screen
from agentfeedback.terminal.progress import Progress
from agentfeedback.wire.encode import json_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentfeedback.terminal.arguments import Parsed
    from agentfeedback.wire import records


def host_of_line() -> Host:
    host = Host(os.environ, screen_warning)
    if not host.harnesses():
        from agentfeedback.plugins.install_hint import pip_install

        command = pip_install(*map(dist_of, ("claude-code", "codex")))
        note(f"no session reader is installed; install one, such as with: {command}")
    return host


def screen_warning(sentence: str) -> None:
    """One warning of a plugin host on standard error."""
    note(f"warning: {sentence}")


def engine_of_line(host: Host, line: Parsed) -> Engine:
    return Engine(
        os.environ,
        home=home_of(line),
        host=host,
        progress=Progress,
        cache=not getattr(line, "no_cache", False),
    )


def warn_of_unknown_keys(engine: Engine) -> None:
    if engine.config_file.tables:
        from agentfeedback.policy.user_file import unknown_keys

        for sentence in unknown_keys(engine.config_file.tables):
            note(f"warning: {engine.scrubber.text(sentence)}")


def warn_of_repositories(engine: Engine) -> None:
    """Warn of what has no effect in the files of the repositories whose sessions were judged."""
    for sentence in engine.builtin.gate.warnings():
        note(f"warning: {engine.scrubber.text(sentence)}")


def not_negative(limit: int) -> None:
    if limit < 0:
        raise UsageError(f"--limit takes a number from 0 on, not {limit}", "0 takes all there are")


def tell_stores(stores: Iterable[records.Store], *, asked: bool) -> None:
    """Name stores and sessions that cannot be listed; a missing store only where it was `asked` for."""
    for store in stores:
        if store.state != "present" and (store.state != "absent" or asked):
            note(f"{store.harness} session store {store.location} is {store.state}")
        for problem in store.problems:
            note(f"warning: {store.harness}: not listed: {problem}")


def print_result(line: Parsed, record: Any, text: Callable[[], str]) -> None:
    """Print a record as JSON, or as the text that is made for people."""
    screen.write(json_line(record) if line.json else text())


def note(sentence: str) -> None:
    screen.note(f"agentfeedback sessions: {sentence}")
