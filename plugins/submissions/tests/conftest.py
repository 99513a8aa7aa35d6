"""A service of the API on a database of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfeedback.state.database import Database
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(
        SqliteSubmissions(Database(str(tmp_path / "data/agentfeedback.db"), "submissions"))
    )
