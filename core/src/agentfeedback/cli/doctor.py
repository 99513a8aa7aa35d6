"""`agentfeedback doctor`: the report for a person, or as JSON; exit status 1 when there is a problem."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agentfeedback.cli.home import home_of
from agentfeedback.doctor.diagnose import DoctorReport, diagnose
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback.terminal.progress import Progress
from agentfeedback.terminal.table import Column, table
from agentfeedback.wire.encode import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentfeedback.terminal.arguments import Parsed
    from agentfeedback.terminal.screen import Screen
    from agentfeedback.wire.doctor import Doctor, Drift

_LABEL = 11


def run(line: Parsed) -> int:
    """Print the report."""
    no_names(line, "doctor")
    report = diagnose(
        os.environ,
        home=home_of(line),
        formats=line.formats,
        directory=_working_directory(),
        progress=Progress,
    )
    if line.json:
        screen.write(json_line(report.plain()))
    else:
        screen.write(text(report, screen.Screen.of(sys.stdout, os.environ)))
        if line.formats and not any(item.sessions for item in report.doctor.harnesses):
            screen.note("agentfeedback doctor: no session found, so no format was checked")
    return 1 if report.doctor.problems else 0


def text(report: DoctorReport, screen: Screen) -> str:
    """The report as text: what was found, then warnings, then problems, each with its remedy."""
    doctor = report.doctor
    parts = ["".join(_facts(report))]
    if doctor.harnesses:
        parts.append(_stores(doctor, screen))
    used = {item.name for item in doctor.harnesses if item.sessions}
    parts += [_drift(drift, screen) for drift in doctor.formats or () if drift.harness in used]
    parts.append("".join(_findings(doctor, screen)))
    return "\n".join(part for part in parts if part)


def _facts(report: DoctorReport) -> Iterator[str]:
    doctor = report.doctor
    config, database = doctor.config, doctor.database
    yield _fact("client", doctor.versions.client)
    yield _fact("mode", doctor.mode)
    if config.path:
        yield _fact("config", f"{config.path} ({_there(config.exists, config.mode)})")
        yield _fact("database", f"{database.path} ({_there(database.exists, '')})")
        cache = doctor.cache
        yield _fact("cache", f"{cache.path} ({cache.sessions} sessions, {cache.bytes} bytes)")
    if doctor.url.value:
        yield _fact("url", f"{doctor.url.value} ({doctor.url.source})")
    if doctor.api_key.set:
        yield _fact("api key", f"set ({doctor.api_key.source})")
    usable = [plugin for plugin in doctor.plugins if not plugin.error]
    yield _fact("plugins", f"{len(usable)} of {len(doctor.plugins)} usable")
    for section in report.sections:
        if section.text:
            yield _fact(section.name, section.text)


def _fact(label: str, value: str) -> str:
    return f"{label.ljust(_LABEL)}{screen.visible(value)}\n"


def _there(exists: bool, mode: str) -> str:
    if not exists:
        return "not there"
    return f"mode {mode}" if mode else "there"


def _stores(doctor: Doctor, screen: Screen) -> str:
    rows = [(item.name, item.state, str(item.sessions), item.store) for item in doctor.harnesses]
    columns = [
        Column("HARNESS"),
        Column("STATE", style=_state_style),
        Column("SESSIONS"),
        Column("STORE", keep="end"),
    ]
    return table(columns, rows, screen, [[("STORE", 20)], [("STORE", 0)]])


def _drift(drift: Drift, screen: Screen) -> str:
    head = f"{drift.harness}: "
    if not drift.described:
        return head + "its reader does not say what it knows\n"
    head += f"{_number(drift.sessions, 'session')}, {_number(drift.records, 'record')}"
    if drift.skipped:
        head += "; not read: " + ", ".join(f"{n} {state}" for state, n in drift.skipped.items())
    if drift.unparsed:
        head += f"; no record: {_number(drift.unparsed, 'line')}"
    rows = [
        ("version", item.version, "", _number(item.sessions, "session"))
        for item in drift.versions
        if not item.verified
    ]
    rows += [("type", item.type, "", _number(item.count, "record")) for item in drift.unknown_types]
    rows += [
        ("field", item.type, item.field, _number(item.count, "time"))
        for item in drift.unknown_fields
    ]
    lines = [head + "\n", _versions(drift)]
    if not rows:
        lines.append("  nothing unknown\n" if drift.sessions else "")
        return "".join(lines)
    columns = [
        Column("UNKNOWN"),
        Column("VERSION OR TYPE", keep="both"),
        Column("FIELD", keep="end"),
        Column("FOUND"),
    ]
    plans = [[("VERSION OR TYPE", 24), ("FIELD", 16)]]
    return "".join(lines) + table(columns, rows, screen, plans)


def _versions(drift: Drift) -> str:
    verified = f"  verified with {', '.join(drift.verified) or 'no version'}; "
    if not drift.versioned:
        return verified + "its logs tell no version\n"
    found = ", ".join(item.version for item in drift.versions)
    return f"{verified}found {found or 'none'}\n"


def _findings(doctor: Doctor, screen: Screen) -> Iterator[str]:
    warnings = [*doctor.collect.warnings, *doctor.config.warnings]
    warnings += [
        f"{item.name}: not listed: {p}" for item in doctor.harnesses for p in item.problems
    ]
    for warning in warnings:
        yield f"{screen.style('warning', 'yellow')}: {_line(warning)}\n"
    for problem in doctor.problems:
        yield f"{screen.style('problem', 'red')}: {_line(problem)}\n"
    if warnings and not doctor.problems:
        yield f"{screen.style(_number(len(warnings), 'warning'), 'yellow')}\n"
    elif not doctor.problems:
        yield f"{screen.style('ok', 'green')}: no problem found\n"


def _line(sentence: str) -> str:
    return screen.visible(sentence.rstrip(".") + ".")


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _state_style(state: str) -> str:
    return {"absent": "dim", "present": "green"}.get(state, "red")


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None
