"""The steps that bring the local database of an earlier version to this one.

One file, one version number: whoever has tables in it appends its steps here.
"""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """One step: whose tables it changes, and the statements; no line ends more than one of them."""

    owner: str
    sql: str


#: Step n takes the schema from version n to n + 1. Steps are only ever appended and only run
#: forward, each in one transaction.
MIGRATIONS: tuple[Step, ...] = (
    Step(
        "sessions",
        """
    CREATE TABLE sessions_seen (
        harness TEXT NOT NULL,
        session_id TEXT NOT NULL,
        path TEXT NOT NULL,
        mtime INTEGER NOT NULL,
        size INTEGER NOT NULL,
        head TEXT NOT NULL,
        digested_at INTEGER,
        processed_at INTEGER,
        processed_size INTEGER,
        processed_mtime INTEGER,
        processed_head TEXT,
        outcome TEXT,
        refs TEXT CHECK (refs IS NULL OR json_valid(refs)),
        PRIMARY KEY (harness, session_id)
    );
    CREATE TABLE triage_state (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    """,
    ),
    # OpenCode's first reader was called `opencode`; its sessions keep their marks under the new name.
    Step(
        "sessions",
        """
    UPDATE OR IGNORE sessions_seen SET harness = 'opencode-v1' WHERE harness = 'opencode';
    """,
    ),
    # What was filed; times in unix microseconds. `payload` and `context` are canonical JSON.
    Step(
        "submissions",
        """
    CREATE TABLE submissions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        schema_version INTEGER NOT NULL,
        key TEXT,
        summary TEXT,
        machine TEXT,
        model TEXT,
        harness TEXT,
        project TEXT,
        occurred_at INTEGER,
        context TEXT CHECK (context IS NULL OR json_valid(context)),
        payload TEXT NOT NULL CHECK (json_valid(payload)),
        content_hash TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        processed_at INTEGER,
        verdict TEXT,
        resolution TEXT,
        ref TEXT,
        processed_by TEXT,
        redacted_at INTEGER,
        category TEXT GENERATED ALWAYS AS (
            CASE WHEN kind = 'friction' AND json_type(payload, '$.category') = 'text'
            THEN json_extract(payload, '$.category') END) VIRTUAL,
        fix_status TEXT GENERATED ALWAYS AS (
            CASE WHEN kind = 'friction' AND json_type(payload, '$.fix_status') = 'text'
            THEN json_extract(payload, '$.fix_status') END) VIRTUAL,
        origin TEXT GENERATED ALWAYS AS (json_extract(context, '$.origin')) VIRTUAL
    );
    CREATE UNIQUE INDEX submissions_key ON submissions (kind, key) WHERE key IS NOT NULL;
    CREATE INDEX submissions_content ON submissions (content_hash);
    """,
    ),
    # What tells a damaged row; a row that was written before has none.
    Step(
        "sessions",
        """
    ALTER TABLE sessions_seen ADD COLUMN checksum TEXT;
    """,
    ),
    Step(
        "submissions",
        """
    ALTER TABLE submissions ADD COLUMN checksum TEXT;
    """,
    ),
)
