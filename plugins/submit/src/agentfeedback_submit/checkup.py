"""What this package adds to `agentfeedback doctor`: loaded with every command, so it loads nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentfeedback.plugins.doctor_section import DoctorContext, DoctorSection


@hookimpl
def doctor_sections(context: DoctorContext) -> Iterable[DoctorSection]:
    """The server, the spool and the outcome log."""
    from agentfeedback_submit.health import sections

    return sections(context)
