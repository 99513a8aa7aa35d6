"""Browsers that somebody signed in with a key: what their cookie holds is good for as long as the key is, or half a day.

A browser gets a token of its own, so that the key is not kept in it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

import sqlalchemy as sa

from agentfeedback_server.access import Access, Caller
from agentfeedback_server.tables import browser_sessions as table
from agentfeedback_server.tables import keys, organisations
from agentfeedback_web.sql import Database

#: How long a browser stays signed in, in seconds.
SIGNED_IN_S = 12 * 3600


class Browsers:
    """The signed-in browsers of one database. Every method raises `StoreError`."""

    def __init__(self, database: Database, access: Access) -> None:
        self._database = database
        self._access = access

    def sign_in(self, key: str) -> str:
        """A token for a browser; empty where the key is not good."""
        caller = self._access.caller([key])
        if caller is None:
            return ""
        token = secrets.token_urlsafe(32)
        now = _now()
        with self._database.writing() as connection:
            connection.execute(sa.delete(table).where(table.c.expires_at <= now))
            connection.execute(
                sa.insert(table).values(
                    hash=_hash(token),
                    key_hash=_hash(key),
                    organisation_id=caller.organisation,
                    expires_at=now + SIGNED_IN_S * 1_000_000,
                )
            )
        return token

    def caller(self, token: str) -> Caller | None:
        """Whose browser holds a token; None where it expired, was signed out, or its key is no longer good."""
        if not token:
            return None
        query = (
            sa.select(table.c.key_hash, organisations.c.id, organisations.c.name, keys.c.id)
            .join(organisations, organisations.c.id == table.c.organisation_id)
            .join(
                keys,
                sa.and_(keys.c.hash == table.c.key_hash, keys.c.revoked_at.is_(None)),
                isouter=True,
            )
            .where(table.c.hash == _hash(token), table.c.expires_at > _now())
        )
        with self._database.looking() as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        key_hash, organisation, name, key = row
        fixed = self._access.fixed_hash
        if key is None and not (fixed and hmac.compare_digest(key_hash, fixed)):
            return None
        return Caller(organisation, name, key or "")

    def sign_out(self, token: str) -> None:
        """Make a token good for nothing."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(table).where(table.c.hash == _hash(token)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _now() -> int:
    return time.time_ns() // 1000
