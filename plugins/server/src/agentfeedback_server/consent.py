"""Whether an organisation lets sessions be processed, and since when: one period after the other.

Only who runs the server can change it; no request does.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

import sqlalchemy as sa
from attrs import frozen

from agentfeedback_server.tables import consents as table
from agentfeedback_web.sql import Database


@frozen
class Period:
    """A period of consent; times in unix microseconds, `disabled_at` 0 while it is in force."""

    id: str
    enabled_at: int
    disabled_at: int


class Consent:
    """The periods of one organisation. Every method raises `StoreError`."""

    def __init__(self, database: Database, organisation: str) -> None:
        self._database = database
        self._organisation = organisation

    def current(self, connection: sa.Connection | None = None) -> str:
        """The id of the period in force; empty where there is none. Seen by a transaction, where one is given."""
        query = sa.select(table.c.id).where(
            table.c.organisation_id == self._organisation, table.c.disabled_at.is_(None)
        )
        if connection is not None:
            return _first(connection, query)
        with self._database.reading() as connection:
            return _first(connection, query)

    def enable(self) -> str:
        """Begin a period, unless one is in force, and return its id."""
        with self._database.writing() as connection:
            found = self.current(connection)
            if not found:
                found = secrets.token_hex(16)
                row = {"id": found, "organisation_id": self._organisation, "enabled_at": _now()}
                connection.execute(sa.insert(table).values(row))
            return found

    def disable(self) -> bool:
        """End the period in force; return whether there was one."""
        with self._database.writing() as connection:
            done = connection.execute(
                sa.update(table)
                .where(table.c.organisation_id == self._organisation, table.c.disabled_at.is_(None))
                .values(disabled_at=_now())
            )
            return done.rowcount > 0

    def periods(self) -> list[Period]:
        """All periods, oldest first."""
        query = (
            sa.select(table.c.id, table.c.enabled_at, sa.func.coalesce(table.c.disabled_at, 0))
            .where(table.c.organisation_id == self._organisation)
            .order_by(table.c.enabled_at, table.c.id)
        )
        with self._database.reading() as connection:
            return [Period(*row) for row in connection.execute(query)]


def _first(connection: sa.Connection, query: Any) -> str:
    row = connection.execute(query).first()
    return "" if row is None else str(row[0])


def _now() -> int:
    return time.time_ns() // 1000
