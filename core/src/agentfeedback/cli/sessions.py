"""`agentfeedback sessions …`: checks the command line, runs the engine, prints."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from agentfeedback.cli import render
from agentfeedback.cli.session_line import (
    engine_of_line,
    host_of_line,
    not_negative,
    note,
    print_result,
    tell_stores,
    warn_of_repositories,
    warn_of_unknown_keys,
)
from agentfeedback.foundation.errors import UsageError
from agentfeedback.reading import refs
from agentfeedback.sessions.selecting import Options, Selected
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback.wire import records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentfeedback.terminal.arguments import Parsed


def run_list(line: Parsed) -> int:
    """`sessions list`."""
    no_names(line, "sessions list")
    host = host_of_line()
    harness = host.harness(line.harness) if "harness" in line.given else None
    since = refs.since(line.since, time.time_ns())
    engine = engine_of_line(host, line)
    warn_of_unknown_keys(engine)
    listing = engine.listing(harness, since, line.unprocessed)
    tell_stores(listing.stores, asked=harness is not None)
    warn_of_repositories(engine)

    def text() -> str:
        from agentfeedback.cli.list_text import listing_text

        here = screen.Screen.of(sys.stdout, os.environ)
        if not here.columns or not listing.sessions:
            return listing_text(listing, here)
        prompts = engine.first_prompts([each.ref for each in listing.sessions])
        return listing_text(listing, here, engine.shorter(), prompts)

    print_result(line, listing, text)
    filtered = line.given & {"harness", "since", "unprocessed"}
    if not line.json and not listing.sessions and not filtered:
        note("no session found; agentfeedback doctor says where it looked")
    return 0


def run_digest(line: Parsed) -> int:
    """`sessions digest`."""
    selection = [name for name in ("unprocessed", "since") if name in line.given]
    if line.positionals and selection:
        raise UsageError(
            f"--{selection[0]} cannot be combined with named sessions", "give one of the two"
        )
    if not line.positionals and not selection:
        raise UsageError(
            "name the sessions to digest, or use --unprocessed or --since",
            "sessions list shows them",
        )
    for name in ("harness", "limit", "newest", "problems"):
        if name in line.given and not selection:
            raise UsageError(f"--{name} needs --unprocessed or --since", "add one of them")
    not_negative(line.limit)
    host = host_of_line()
    harness = host.harness(line.harness) if "harness" in line.given else None
    since = refs.since(line.since, time.time_ns())
    named = [host.ref(text) for text in line.positionals]
    engine = engine_of_line(host, line)
    warn_of_unknown_keys(engine)
    options = Options(line.detail, line.problems, not line.no_mark)
    if selection:
        selected = Selected(line.unprocessed, since, harness, line.limit, line.newest)
        run = engine.digest_selected(
            selected, allow_unknown=line.allow_unknown_project, options=options
        )
        tell_stores(engine.shown_stores(), asked=harness is not None)
    else:
        run = engine.digest(named, allow_unknown=line.allow_unknown_project, options=options)
    warn_of_repositories(engine)

    def text() -> str:
        from agentfeedback.cli.digest_text import digest_text

        here = screen.Screen.of(sys.stdout, os.environ)
        shorter = engine.shorter() if here.columns else str
        return digest_text(run, here, shorter, marks=options.mark)

    print_result(line, run, text)
    if not line.json:
        if selection and not (run.sessions or run.deferred or run.errors):
            note(f"nothing to digest{_counted(engine.left_out)}")
        for error in run.errors:
            screen.note(f"agentfeedback sessions digest: {_error_line(error)}")
    return 1 if run.errors and not run.sessions else 0


def _error_line(error: records.DigestError) -> str:
    """The line of one error; a message that names its session stands alone."""
    if error.message.startswith(f"{error.ref}:"):
        return error.message
    return f"{error.ref}: {error.state}: {error.message}"


def _counted(states: Mapping[str, int]) -> str:
    """How many sessions are in each state, in brackets; empty when there are no sessions."""
    numbers = [f"{number} {state}" for state, number in sorted(states.items())]
    return f" ({', '.join(numbers)})" if numbers else ""


def run_mark(line: Parsed) -> int:
    """`sessions mark`."""
    if line.digested and (line.positionals or "ref" in line.given):
        with_it = "named sessions" if line.positionals else "--ref"
        raise UsageError(f"--digested cannot be combined with {with_it}", "leave one of them out")
    if not line.positionals and not line.digested:
        raise UsageError(
            "name the sessions to mark, or use --digested", "sessions digest shows their refs"
        )
    if not line.outcome:
        raise UsageError("--outcome is missing", "it is filed, nothing or skipped")
    outcome = refs.outcome(line.outcome)
    host = host_of_line()
    named = [host.ref(text) for text in line.positionals]
    uids = [refs.uid(text) for text in line.ref]
    engine = engine_of_line(host, line)
    marked = engine.mark_digested(outcome) if line.digested else engine.mark(named, outcome, uids)
    print_result(line, marked, lambda: render.marked_text(marked))
    return 0


def run_status(line: Parsed) -> int:
    """`sessions status`, with `--set-selection`."""
    no_names(line, "sessions status")
    for name in ("harness", "since", "limit"):
        if name in line.given and not line.set_selection:
            raise UsageError(f"--{name} needs --set-selection", "add it, or leave that out")
    host = host_of_line()
    harnesses = [host.harness(name) for name in line.harness]
    refs.since(line.since, time.time_ns())
    not_negative(line.limit)
    engine = engine_of_line(host, line)
    warn_of_unknown_keys(engine)
    engine.check_policy()  # before a selection is kept
    if line.set_selection:
        engine.store.save_selection(records.Selection(harnesses, line.since, line.limit))
    status = engine.status()
    warn_of_repositories(engine)
    print_result(line, status, lambda: render.status_text(status))
    return 0


def run_forget(line: Parsed) -> int:
    """`sessions forget`."""
    if not line.positionals:
        raise UsageError("name the sessions to forget", "sessions list shows their refs")
    host = host_of_line()
    named = [host.ref(text) for text in line.positionals]
    forgotten, unknown = engine_of_line(host, line).forget(named)
    for ref in unknown:
        note(f"{ref}: nothing is stored about this session")
    print_result(line, forgotten, lambda: render.forgotten_text(forgotten))
    return 1 if unknown and not forgotten.forgotten else 0
