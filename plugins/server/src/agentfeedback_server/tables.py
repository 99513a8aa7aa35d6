"""The tables of the server. Times are unix microseconds; `migrations` makes them.

Everything belongs to one organisation. What has no bound on its length is looked up by a hash of it, since
PostgreSQL indexes nothing that is longer than a third of a page.
"""

from __future__ import annotations

import sqlalchemy as sa

from agentfeedback_web.sql import Long, Text

metadata = sa.MetaData()

organisations = sa.Table(
    "organisations",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("name", Text, nullable=False),
    sa.Column("created_at", Long, nullable=False),
)

#: `hash` is the SHA-256 of a key; the key itself is stored nowhere.
keys = sa.Table(
    "keys",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("hash", Text, nullable=False),
    sa.Column("created_at", Long, nullable=False),
    sa.Column("revoked_at", Long),
)

#: Browsers that somebody signed in with a key; `hash` is the SHA-256 of what their cookie holds.
browser_sessions = sa.Table(
    "browser_sessions",
    metadata,
    sa.Column("hash", Text, primary_key=True),
    sa.Column("key_hash", Text, nullable=False),
    sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
    sa.Column("expires_at", Long, nullable=False),
    sa.Index("browser_sessions_expiry", "expires_at"),
)

#: The periods in which an organisation lets sessions be processed; the one without an end is in force.
consents = sa.Table(
    "consents",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("organisation_id", Text, sa.ForeignKey("organisations.id"), nullable=False),
    sa.Column("enabled_at", Long, nullable=False),
    sa.Column("disabled_at", Long),
    sa.Index(
        "consents_in_force",
        "organisation_id",
        unique=True,
        sqlite_where=sa.text("disabled_at IS NULL"),
        postgresql_where=sa.text("disabled_at IS NULL"),
    ),
)

#: The columns of `SubmissionRow`, then what is looked up: the hash of kind and key, and members of payload and context.
submissions = sa.Table(
    "submissions",
    metadata,
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
    sa.Index("submissions_pages", "organisation_id", "id"),
    sa.Index("submissions_content", "organisation_id", "content_hash"),
    sqlite_autoincrement=True,  # ids are never used again
)

#: `state` is `open`, `complete`, or `removing` while its parts are deleted. `key` is that of the submission,
#: so there is one upload of each revision of a session.
uploads = sa.Table(
    "uploads",
    metadata,
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
    sa.Index(
        "uploads_key",
        "organisation_id",
        "key",
        unique=True,
        sqlite_where=sa.text("state <> 'removing'"),
        postgresql_where=sa.text("state <> 'removing'"),
    ),
    sa.Index("uploads_expiry", "state", "expires_at"),
    sa.Index("uploads_submission", "submission_id"),
)

#: `escaped` is the length of the part as a piece of a JSON string, known once it was received.
parts = sa.Table(
    "parts",
    metadata,
    sa.Column("upload_id", Text, sa.ForeignKey("uploads.id"), primary_key=True),
    sa.Column("number", Long, primary_key=True, autoincrement=False),
    sa.Column("bytes", Long, nullable=False),
    sa.Column("sha256", Text, nullable=False),
    sa.Column("escaped", Long),
)
