"""`agentfeedback sessions report`."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from agentfeedback.cli.session_line import (
    engine_of_line,
    host_of_line,
    print_result,
    tell_stores,
    warn_of_unknown_keys,
)
from agentfeedback.foundation.errors import UsageError
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
    engine = engine_of_line(host, line)
    warn_of_unknown_keys(engine)
    report = engine.report(
        since or 0,
        harness=harness,
        cwd=line.cwd,
        limit=limit,
        allow_unknown=line.allow_unknown_project,
    )
    tell_stores(engine.shown_stores(), asked=harness is not None)

    def text() -> str:
        from agentfeedback.cli.report_text import report_text

        here = screen.Screen.of(sys.stdout, os.environ)
        return report_text(report, here, engine.shorter() if here.columns else str)

    print_result(line, report, text)
    return 0
