"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agentfeedback_web.sql import Long, Text

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "organisations",
        sa.Column("id", Text, primary_key=True),
        sa.Column("name", Text, nullable=False),
        sa.Column("created_at", Long, nullable=False),
    )
    op.create_table(
        "keys",
        sa.Column("id", Text, primary_key=True),
        sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
        sa.Column("name", Text, nullable=False),
        sa.Column("hash", Text, nullable=False),
        sa.Column("created_at", Long, nullable=False),
        sa.Column("revoked_at", Long),
    )
    op.create_table(
        "consents",
        sa.Column("id", Text, primary_key=True),
        sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
        sa.Column("enabled_at", Long, nullable=False),
        sa.Column("disabled_at", Long),
    )
    op.create_index(
        "consents_in_force",
        "consents",
        ["organisation_id"],
        unique=True,
        sqlite_where=sa.text("disabled_at IS NULL"),
        postgresql_where=sa.text("disabled_at IS NULL"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", Long, primary_key=True, autoincrement=True),
        sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
        sa.Column("uid", Text, nullable=False),
        sa.Column("kind", Text, nullable=False),
        sa.Column("schema_version", Long, nullable=False),
        sa.Column("key", Text),
        sa.Column("summary", Text),
        sa.Column("machine", Text),
        sa.Column("model", Text),
        sa.Column("harness", Text),
        sa.Column("project", Text),
        sa.Column("occurred_at", Long),
        sa.Column("context", Text),
        sa.Column("payload", Text, nullable=False),
        sa.Column("content_hash", Text, nullable=False),
        sa.Column("created_at", Long, nullable=False),
        sa.Column("processed_at", Long),
        sa.Column("verdict", Text),
        sa.Column("resolution", Text),
        sa.Column("ref", Text),
        sa.Column("processed_by", Text),
        sa.Column("redacted_at", Long),
        sa.Column("category", Text),
        sa.Column("fix_status", Text),
        sa.Column("origin", Text),
        sa.Column("key_hash", Text),
        sa.UniqueConstraint("organisation_id", "uid", name="submissions_uid"),
        sa.UniqueConstraint("organisation_id", "key_hash", name="submissions_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("submissions_pages", "submissions", ["organisation_id", "id"])
    op.create_index("submissions_content", "submissions", ["organisation_id", "content_hash"])
    op.create_table(
        "uploads",
        sa.Column("id", Text, primary_key=True),
        sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
        sa.Column("key", Text, nullable=False),
        sa.Column("state", Text, nullable=False),
        sa.Column("consent_id", Text, nullable=False),
        sa.Column("manifest", Text, nullable=False),
        sa.Column("transcript_bytes", Long, nullable=False),
        sa.Column("transcript_sha256", Text, nullable=False),
        sa.Column("created_at", Long, nullable=False),
        sa.Column("expires_at", Long, nullable=False),
        sa.Column("submission_id", Long, sa.ForeignKey("submissions.id")),
    )
    op.create_index(
        "uploads_key",
        "uploads",
        ["organisation_id", "key"],
        unique=True,
        sqlite_where=sa.text("state <> 'removing'"),
        postgresql_where=sa.text("state <> 'removing'"),
    )
    op.create_index("uploads_expiry", "uploads", ["state", "expires_at"])
    op.create_index("uploads_submission", "uploads", ["submission_id"])
    op.create_table(
        "parts",
        sa.Column("upload_id", Text, sa.ForeignKey("uploads.id"), primary_key=True),
        sa.Column("number", Long, primary_key=True, autoincrement=False),
        sa.Column("bytes", Long, nullable=False),
        sa.Column("sha256", Text, nullable=False),
        sa.Column("escaped", Long),
    )
