"""`agentfeedback sessions …`: checks the command line, runs the engine, prints."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from agentfeedback.cli import render
from agentfeedback.cli.home import home_of
from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.harnesses import dist_of
from agentfeedback.plugins.host import Host
from agentfeedback.reading import refs
from agentfeedback.sessions.engine import Engine
from agentfeedback.terminal import screen
from agentfeedback.terminal.progress import Progress
from agentfeedback.wire import records
from agentfeedback.wire.encode import json_line

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def run_list(line: Parsed) -> int:
    """`sessions list`."""
    _no_positionals(line, "list")
    host = _host()
    harness = host.harness(line.harness) if "harness" in line.given else None
    since = refs.since(line.since, time.time_ns())
    engine = _engine(host, line)
    _warn_of_unknown_keys(engine)
    listing = engine.listing(harness, since, line.unprocessed)
    for store in listing.stores:
        if store.state != "present" and (store.state != "absent" or harness is not None):
            _note(f"{store.harness} session store {store.location} is {store.state}")
        for problem in store.problems:
            _note(f"warning: {store.harness}: not listed: {problem}")
    _print(
        line,
        listing,
        lambda: render.listing_text(listing, screen.Screen.of(sys.stdout, os.environ)),
    )
    filtered = line.given & {"harness", "since", "unprocessed"}
    if not line.json and not listing.sessions and not filtered:
        _note("no session found; agentfeedback doctor says where it looked")
    return 0


def run_digest(line: Parsed) -> int:
    """`sessions digest`."""
    if line.positionals and line.unprocessed:
        raise UsageError("refs and --unprocessed are both given", "give one of them")
    if not line.positionals and not line.unprocessed:
        raise UsageError(
            "wrong number of arguments for sessions digest",
            "name sessions by ref, or pass --unprocessed",
        )
    if not line.unprocessed and line.given & {"harness", "limit"}:
        raise UsageError("--harness and --limit apply only with --unprocessed", "leave them out")
    _not_negative(line.limit)
    host = _host()
    harness = host.harness(line.harness) if "harness" in line.given else None
    named = [host.ref(text) for text in line.positionals]
    engine = _engine(host, line)
    _warn_of_unknown_keys(engine)
    if line.unprocessed:
        run = engine.digest_unprocessed(
            harness, line.limit, allow_unknown=line.allow_unknown_project
        )
    else:
        run = engine.digest(named, allow_unknown=line.allow_unknown_project)
    _print(line, run, lambda: render.digest_text(run, on_terminal=screen.is_terminal(sys.stdout)))
    if not line.json:
        if line.unprocessed and not (run.sessions or run.deferred or run.errors):
            _note("nothing to digest")
        for error in run.errors:
            screen.note(
                f"agentfeedback sessions digest: {error.ref}: {error.state}: {error.message}"
            )
    return 1 if run.errors and not run.sessions else 0


def run_mark(line: Parsed) -> int:
    """`sessions mark`."""
    if not line.positionals:
        raise UsageError(
            "wrong number of arguments for sessions mark",
            "name sessions by ref, and pass --outcome",
        )
    if not line.outcome:
        raise UsageError(
            "wrong number of arguments for sessions mark: --outcome is missing",
            "pass filed, nothing or skipped",
        )
    outcome = refs.outcome(line.outcome)
    host = _host()
    named = [host.ref(text) for text in line.positionals]
    uids = [refs.uid(text) for text in line.ref]
    marked = _engine(host, line).mark(named, outcome, uids)
    _print(line, marked, lambda: render.marked_text(marked))
    return 0


def run_status(line: Parsed) -> int:
    """`sessions status`, with `--set-selection`."""
    _no_positionals(line, "status")
    if not line.set_selection and line.given & {"harness", "since", "limit"}:
        raise UsageError(
            "--harness, --since and --limit apply only with --set-selection",
            "add it, or leave them out",
        )
    host = _host()
    harnesses = [host.harness(name) for name in line.harness]
    refs.since(line.since, time.time_ns())
    _not_negative(line.limit)
    engine = _engine(host, line)
    _warn_of_unknown_keys(engine)
    engine.check_policy()  # before a selection is kept
    if line.set_selection:
        engine.store.save_selection(records.Selection(harnesses, line.since, line.limit))
    status = engine.status()
    _print(line, status, lambda: render.status_text(status))
    return 0


def run_forget(line: Parsed) -> int:
    """`sessions forget`."""
    if not line.positionals:
        raise UsageError("wrong number of arguments for sessions forget", "name sessions by ref")
    host = _host()
    named = [host.ref(text) for text in line.positionals]
    forgotten, unknown = _engine(host, line).forget(named)
    for ref in unknown:
        _note(f"{ref}: nothing is stored about this session")
    _print(line, forgotten, lambda: render.forgotten_text(forgotten))
    return 1 if unknown and not forgotten.forgotten else 0


def _host() -> Host:
    host = Host(os.environ, screen_warning)
    if not host.harnesses():
        from agentfeedback.plugins.install_hint import pip_install

        command = pip_install(*map(dist_of, ("claude-code", "codex")))
        _note(f"no session reader is installed; install one, such as with: {command}")
    return host


def screen_warning(sentence: str) -> None:
    """One warning of a plugin host on standard error."""
    _note(f"warning: {sentence}")


def _engine(host: Host, line: Parsed) -> Engine:
    return Engine(
        os.environ,
        home=home_of(line),
        host=host,
        progress=Progress,
        cache=not getattr(line, "no_cache", False),
    )


def _warn_of_unknown_keys(engine: Engine) -> None:
    if engine.config_file.tables:
        from agentfeedback.policy.user_file import unknown_keys

        for sentence in unknown_keys(engine.config_file.tables):
            _note(f"warning: {engine.scrubber.text(sentence)}")


def _no_positionals(line: Parsed, command: str) -> None:
    if line.positionals:
        raise UsageError(
            f"wrong number of arguments for sessions {command}",
            f"run agentfeedback sessions {command} -h for its usage",
        )


def _not_negative(limit: int) -> None:
    if limit < 0:
        raise UsageError(f"--limit {limit} is negative", "pass 0 for no limit")


def _print(line: Parsed, record: Any, text: Any) -> None:
    screen.write(json_line(record) if line.json else text())


def _note(sentence: str) -> None:
    screen.note(f"agentfeedback sessions: {sentence}")
