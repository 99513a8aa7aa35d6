"""`agentfeedback server policy`: whether clients may upload sessions."""

from __future__ import annotations

from agentfeedback.foundation.canonical import compact
from agentfeedback.plugins import Parsed
from agentfeedback.terminal import screen
from agentfeedback_server.cli.opened import database, no_positionals, organisation
from agentfeedback_server.consent import Consent, Period
from agentfeedback_submissions.texts import time_form


def show(line: Parsed) -> int:
    """Print the policy and its periods."""
    return _shown(line, "show")


def enable(line: Parsed) -> int:
    """Begin a period unless one is in force, then print the policy."""
    return _shown(line, "enable")


def disable(line: Parsed) -> int:
    """End the period in force, then print the policy."""
    return _shown(line, "disable")


def _shown(line: Parsed, what: str) -> int:
    no_positionals(line, f"server policy {what}")
    with database(line) as found:
        id = organisation(line, found)
        consent = Consent(found, id)
        if what == "enable":
            consent.enable()
        elif what == "disable":
            consent.disable()
        current, periods = consent.current(), consent.periods()
    capture = "enabled" if current else "disabled"
    if line.json:
        shown = {
            "organisation": id,
            "capture": capture,
            "periods": [_period(each) for each in periods],
        }
        screen.write(compact(shown) + b"\n")
        return 0
    screen.write(f"{id}: sessions are {'' if current else 'not '}processed\n")
    for each in periods:
        until = time_form(each.disabled_at) if each.disabled_at else "now"
        screen.write(f"  {time_form(each.enabled_at)} to {until}\n")
    return 0


def _period(period: Period) -> dict[str, str]:
    shown = {"consent_id": period.id, "enabled_at": time_form(period.enabled_at)}
    if period.disabled_at:
        shown["disabled_at"] = time_form(period.disabled_at)
    return shown
