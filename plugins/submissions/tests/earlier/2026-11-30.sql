-- A database as it was written on 2026-11-30, at version 3 of its schema.
PRAGMA application_id = 1634103417;
BEGIN TRANSACTION;
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO "schema_version" VALUES(3);
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
INSERT INTO "sessions_seen" VALUES('codex','s1','/srv/app/s1.jsonl',1,10,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',5,6,10,1,'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','filed','["01a0c450-6fe8-7507-9f26-4ab07d44a0be"]');
INSERT INTO "sessions_seen" VALUES('claude-code','s2','/srv/app/s2.jsonl',2,20,'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',5,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "submissions" VALUES(1,'01a0c450-6fe8-7507-9f26-4ab07d44a0be','friction',1,'docs-1','the docs name a flag that is gone','m1','o','codex','shop',1789899072500000,'{"origin":"session-scan","session_id":"s1"}','{"category":"docs","details":"a\nb é","evidence":[{"at":"5"}]}','f06ae721f71dd8efcae9cb247fa60b5249b49782ef33d69765c5a0e4811cb156',1790000001000000,1790000005000000,'fixed','done','3f2a1c9','me',NULL);
INSERT INTO "submissions" VALUES(2,'01a0c450-73d0-7f11-971c-d0b2ee9390d2','note',1,NULL,'numbers keep their spelling',NULL,NULL,NULL,NULL,NULL,NULL,'{"big":12345678901234567890,"e":1E+2,"n":1.50}','7495cc4ca6c152aa183082b056fb52e2adce58fcfe62e3bc1c167bcb6f8cf807',1790000002000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(3,'01a0c450-77b8-7b57-ae21-d1e9c7de2fee','friction',1,'secret',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"redacted":true}','ebc83cb469399412ff9eb7e00f493cdd24dcc440712c124108ab6f7852b9027f',1790000003000000,NULL,NULL,NULL,NULL,NULL,1790000006000000);
INSERT INTO "submissions" VALUES(4,'01a0c450-7ba0-7207-bac1-4f1b812ad9ae','install-check',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{}','16287123bca531db04847ca086934080a8354457eb6f1d61e844134325b41e7e',1790000004000000,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE triage_state (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "triage_state" VALUES('selection','{"harnesses":["codex"],"since":"7d","limit":5}');
CREATE UNIQUE INDEX submissions_key ON submissions (kind, key) WHERE key IS NOT NULL;
CREATE INDEX submissions_content ON submissions (content_hash);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('submissions',4);
COMMIT;
