"""The database that a command of the server works on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins import Parsed
from agentfeedback_server import settings
from agentfeedback_server.access import Access
from agentfeedback_server.database import opened
from agentfeedback_web.sql import Database


@contextmanager
def database(line: Parsed) -> Iterator[Database]:
    """The database of a command line, closed at the end."""
    found = opened(settings.read(os.environ, database=line.database).database)
    try:
        yield found
    finally:
        found.close()


def organisation(line: Parsed, of: Database) -> str:
    """The organisation that a command line is about, which has to be there. Raises `AgentFeedbackError`."""
    found: str = line.organisation or settings.read(os.environ).organisation
    Access(of).require(found)
    return found


def no_positionals(line: Parsed, name: str) -> None:
    """Raises `UsageError` where words follow that the command has no use for."""
    if line.positionals:
        raise UsageError(
            f'{name} takes no names, but "{line.positionals[0]}" is one', "leave it out"
        )
