"""The server's database: opened by URL, its tables brought to their newest form."""

from __future__ import annotations

import os

from agentfeedback_web import migrate
from agentfeedback_web.sql import Database

#: Marks the server's SQLite file, so that neither it nor the client's database is taken for the other.
APPLICATION_ID = 0x61667376
_SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations")


def opened(url: str) -> Database:
    """The database at a URL, ready for use.

    Raises:
        AgentFeedbackError: The URL is malformed, or the driver is missing.
        StoreError: The database cannot be used, or a newer program made it.
    """
    database = Database(url, "server's data", application_id=APPLICATION_ID)
    migrate.upgrade(database, _SCRIPTS, "server")
    return database
