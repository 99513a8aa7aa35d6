"""Organisations, and the keys that speak for them."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Sequence

import sqlalchemy as sa
from attrs import frozen

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_server.tables import keys, organisations
from agentfeedback_web.sql import Database

#: The organisation of a server that was asked for no other.
DEFAULT = "default"
_PREFIX = "afk"
_KEY = re.compile(rf"{_PREFIX}_([0-9a-f]{{12}})_[A-Za-z0-9_-]{{43}}", re.ASCII)
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
#: How many characters a name may have.
_NAME = 200


@frozen
class Caller:
    """Whose key a request came with; `key` is the id of the key, empty for the one the server was started with."""

    organisation: str
    name: str
    key: str = ""


@frozen
class KeyInfo:
    """A key as it may be shown; times in unix microseconds, `revoked_at` 0 while it is good."""

    id: str
    organisation: str
    name: str
    created_at: int
    revoked_at: int


class Access:
    """The organisations and keys of one database.

    `fixed` is a key that is not in the database but was given to the server; it speaks for the
    organisation `fixed_for`.
    """

    def __init__(self, database: Database, fixed: str = "", fixed_for: str = DEFAULT) -> None:
        self._database = database
        self.fixed_hash = _hash(fixed) if fixed else ""
        self._fixed_for = fixed_for

    def caller(self, given: Sequence[str]) -> Caller | None:
        """Whose the first good key of a request is; None where none is good. Raises `StoreError`."""
        for key in given:
            found = self._one(key)
            if found is not None:
                return found
        return None

    def add_organisation(self, id: str, name: str = "") -> None:
        """Make an organisation unless it is there. Raises `AgentFeedbackError` and `StoreError`."""
        if not _ID.fullmatch(id):
            raise AgentFeedbackError(
                f"{id!r} is not an id of an organisation",
                "use lower-case letters, digits and hyphens, at most 63",
            )
        with self._database.writing() as connection:
            if connection.execute(sa.select(organisations.c.id).filter_by(id=id)).first() is None:
                row = {"id": id, "name": name or id, "created_at": _now()}
                connection.execute(sa.insert(organisations).values(row))

    def require(self, id: str) -> None:
        """Raises `AgentFeedbackError` where there is no such organisation."""
        with self._database.reading() as connection:
            if connection.execute(sa.select(organisations.c.id).filter_by(id=id)).first() is None:
                raise AgentFeedbackError(
                    f"there is no organisation {id!r}",
                    f"agentfeedback server keys add --organisation {id} makes it",
                )

    def add(self, organisation: str, name: str) -> tuple[str, str]:
        """Make a key and return its id and the key itself, which nobody can look up later.

        Raises `AgentFeedbackError` and `StoreError`.
        """
        if len(name) > _NAME or not name.isprintable():
            raise AgentFeedbackError(
                "the name of a key is one line", f"use at most {_NAME} printable characters"
            )
        id = secrets.token_hex(6)
        key = f"{_PREFIX}_{id}_{secrets.token_urlsafe(32)}"
        with self._database.writing() as connection:
            connection.execute(
                sa.insert(keys).values(
                    id=id,
                    organisation_id=organisation,
                    name=name,
                    hash=_hash(key),
                    created_at=_now(),
                )
            )
        return id, key

    def revoke(self, id: str) -> bool:
        """Make a key good for nothing; return whether it was there. Raises `StoreError`."""
        with self._database.writing() as connection:
            if connection.execute(sa.select(keys.c.id).filter_by(id=id)).first() is None:
                return False
            connection.execute(
                sa.update(keys)
                .where(keys.c.id == id, keys.c.revoked_at.is_(None))
                .values(revoked_at=_now())
            )
            return True

    def all(self) -> list[KeyInfo]:
        """All keys, oldest first. Raises `StoreError`."""
        query = sa.select(
            keys.c.id,
            keys.c.organisation_id,
            keys.c.name,
            keys.c.created_at,
            sa.func.coalesce(keys.c.revoked_at, 0),
        ).order_by(keys.c.created_at, keys.c.id)
        with self._database.reading() as connection:
            return [KeyInfo(*row) for row in connection.execute(query)]

    def is_empty(self) -> bool:
        """Whether there has never been a key. Raises `StoreError`."""
        with self._database.reading() as connection:
            return connection.execute(sa.select(keys.c.id).limit(1)).first() is None

    def _one(self, key: str) -> Caller | None:
        digest = _hash(key)
        if self.fixed_hash and hmac.compare_digest(digest, self.fixed_hash):
            return Caller(self._fixed_for, self._name(self._fixed_for))
        match = _KEY.fullmatch(key)
        if match is None:
            return None
        query = (
            sa.select(keys.c.hash, organisations.c.id, organisations.c.name)
            .join(organisations, organisations.c.id == keys.c.organisation_id)
            .where(keys.c.id == match[1], keys.c.revoked_at.is_(None))
        )
        with self._database.looking() as connection:
            row = connection.execute(query).first()
        # The look-up is by the id, which may be known; of the secret only hashes are compared.
        if row is None or not hmac.compare_digest(digest, row[0]):
            return None
        return Caller(row[1], row[2], match[1])

    def _name(self, organisation: str) -> str:
        query = sa.select(organisations.c.name).filter_by(id=organisation)
        with self._database.looking() as connection:
            row = connection.execute(query).first()
        return organisation if row is None else str(row[0])


def _hash(key: str) -> str:
    """A key is 256 random bits, so one round is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _now() -> int:
    return time.time_ns() // 1000
