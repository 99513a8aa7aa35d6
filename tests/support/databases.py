"""A place of its own in a PostgreSQL for a test; skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

VARIABLE = "AGENTFEEDBACK_TEST_POSTGRES"
URL = os.environ.get(VARIABLE, "postgresql://postgres@127.0.0.1:5432/postgres")


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty schema, which goes with the end of the block."""
    name = f"test_{secrets.token_hex(6)}"
    try:
        connection = psycopg.connect(URL, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError:
        pytest.skip(f"no PostgreSQL answers at {URL}; set {VARIABLE}")
    with connection:
        # A test that failed may have left a connection open: then dropping fails, and does not wait.
        connection.execute("SET lock_timeout = '20s'")
        connection.execute(f"CREATE SCHEMA {name}")
        try:
            yield f"{URL}?options=-csearch_path%3D{name}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")
