"""Signed-in browsers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agentfeedback_web.sql import Long, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "browser_sessions",
        sa.Column("hash", Text, primary_key=True),
        sa.Column("key_hash", Text, nullable=False),
        sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
        sa.Column("expires_at", Long, nullable=False),
    )
    op.create_index("browser_sessions_expiry", "browser_sessions", ["expires_at"])
