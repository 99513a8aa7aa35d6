"""What this package adds to `agentfeedback doctor`: loaded with every command, so it loads nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentfeedback.checkup import Checkup, Section


@hookimpl
def doctor_sections(checkup: Checkup) -> Iterable[Section]:
    """The server, the spool and the outcome log."""
    from .health import sections

    return sections(checkup)
