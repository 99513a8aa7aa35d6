"""`agentfeedback sessions report`."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from agentfeedback.cli.session_line import (
    engine_of_line,
    host_of_line,
    print_result,
    tell_stores,
    warn_of_repositories,
    warn_of_unknown_keys,
)
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback.foundation.files import open_regular
from agentfeedback.reading import refs
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed

#: How far back a report looks, how many items of a list it shows where nothing else is asked for, and at most.
SINCE, LIMIT, MOST = "7d", 10, 100


def run_report(line: Parsed) -> int:
    """Show what went wrong over all sessions of a period."""
    no_names(line, "sessions report")
    host = host_of_line()
    harness = host.harness(line.harness) if "harness" in line.given else None
    since = refs.since(line.since or SINCE, time.time_ns())
    limit = line.limit if "limit" in line.given else LIMIT
    if not 1 <= limit <= MOST:
        raise UsageError(
            f"--limit takes a number from 1 to {MOST}, not {limit}", f"it is {LIMIT} without"
        )
    if "cwd" in line.given and not line.cwd:
        raise UsageError("--cwd is empty", "name a directory, such as .")
    if "html" in line.given:
        _check_page(line)
    engine = engine_of_line(host, line)
    warn_of_unknown_keys(engine)
    asked: dict[str, Any] = {
        "harness": harness,
        "cwd": line.cwd,
        "limit": limit,
        "allow_unknown": line.allow_unknown_project,
    }
    if "html" in line.given:
        from agentfeedback.report.page import page

        data = engine.report_page(since or 0, **asked)
        tell_stores(engine.shown_stores(), asked=harness is not None)
        _write_page(line.html, page(data))
        return 0
    report = engine.report(since or 0, **asked)
    warn_of_repositories(engine)
    tell_stores(engine.shown_stores(), asked=harness is not None)

    def text() -> str:
        from agentfeedback.cli.report_text import report_text

        here = screen.Screen.of(sys.stdout, os.environ)
        return report_text(report, here, engine.shorter() if here.columns else str)

    print_result(line, report, text)
    return 0


def _check_page(line: Parsed) -> None:
    """Raise where no page can be written to the file named, before anything is read."""
    if line.json:
        raise UsageError("--html and --json cannot be combined", "run the command once for each")
    if not line.html:
        raise UsageError("--html is empty", "name the file to write")
    folder = os.path.dirname(os.path.abspath(line.html))
    if not os.path.isdir(folder):
        raise AgentFeedbackError(f"{folder} is not a folder", "make it first, or name another file")
    _refuse_foreign(line.html)


def _refuse_foreign(path: str) -> None:
    """Raise unless a file is missing or begins as every page of ours does."""
    from agentfeedback.report.page import BEGINNING

    problem = f"{path} was not written by agentfeedback"
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise AgentFeedbackError(
            f"{path} cannot be replaced: {reason_of(error)}", "name another file"
        ) from None
    try:
        begins = os.read(descriptor, len(BEGINNING))
    finally:
        os.close(descriptor)
    if begins != BEGINNING:
        raise AgentFeedbackError(problem, "name another file, or remove it first")


def _write_page(path: str, data: bytes) -> None:
    from agentfeedback.foundation.folder import Folder

    folder, name = os.path.split(os.path.abspath(path))
    try:
        Folder(folder, durable=False).put(
            name, data, replace=True, check=lambda: _refuse_foreign(path)
        )
    except OSError as error:
        raise AgentFeedbackError(
            f"{path} cannot be written: {reason_of(error)}", "name another file"
        ) from None
    screen.write(f"wrote {screen.visible(path)}\n")
