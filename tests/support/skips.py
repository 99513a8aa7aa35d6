"""Fails a run in which a test was skipped that must not be: one skipped for want of a tool proves nothing.

`AGENTFEEDBACK_ALLOWED_SKIPS` names a file with a regular expression a line, `#` begins a comment; the reason of
each skip has to match one of them as a whole. Without the variable every skip is fine: not every machine has
everything. It is a variable and no option, so that it reaches the run through whatever command starts it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "AGENTFEEDBACK_ALLOWED_SKIPS"


def forbidden(reasons: list[str], text: str) -> list[str]:
    """The reasons that no line of the text allows."""
    lines = (line.strip() for line in text.splitlines())
    allowed = [re.compile(line) for line in lines if line and not line.startswith("#")]
    return [each for each in reasons if not any(line.fullmatch(each) for line in allowed)]


def reason(report: Any) -> str:
    """Why a test or a module was skipped."""
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return str(told).removeprefix("Skipped: ")


def _forbidden(config: pytest.Config) -> list[str]:
    file, reporter = os.environ.get(VARIABLE), config.pluginmanager.get_plugin("terminalreporter")
    if not file or reporter is None:
        return []
    reports = reporter.stats.get("skipped", [])
    found = {reason(report): report.nodeid for report in reports}
    text = (config.rootpath / Path(file)).read_text()
    return [f"{found[each]}: {each}" for each in forbidden(list(found), text)]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run."""
    if session.exitstatus == pytest.ExitCode.OK and _forbidden(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """Name the skips that failed the run."""
    if found := _forbidden(config):
        terminalreporter.section(
            f"skipped, which {os.environ[VARIABLE]} does not allow", sep="=", red=True
        )
        for each in found:
            terminalreporter.write_line(each)
