-- What a migration leaves: the tables of V1, and those of OpenCode 2 with their newest columns last.
CREATE TABLE session (
    id text PRIMARY KEY, parent_id text, slug text NOT NULL, directory text NOT NULL, title text NOT NULL,
    version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE message (
    id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL
);
CREATE TABLE part (
    id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL
);
INSERT INTO session VALUES ('ses_old', NULL, 'old', '/srv/app', 'Old', '1.18.33', 1772359200000, 1772359200000);
INSERT INTO message VALUES ('msg_old', 'ses_old', 1772359200000, 1772359200000, '{"role":"user","time":{"created":1772359200000}}');
INSERT INTO part VALUES ('prt_old', 'msg_old', 'ses_old', 1772359200000, 1772359200000, '{"type":"text","text":"old prompt"}');
CREATE TABLE session_v2 (
    id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL,
    directory text NOT NULL, path text, title text, version text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, time_compacting integer, time_archived integer, fork_session_id text,
    fork_boundary text, metadata text, cost real DEFAULT 0 NOT NULL, revert text, permission text, agent text, model text,
    time_suspended integer, time_idle integer, time_viewed integer, idle_outcome text, resume_attempts integer
);
CREATE TABLE session_message (
    seq integer NOT NULL, data text NOT NULL, id text PRIMARY KEY, session_id text NOT NULL REFERENCES session_v2 (id),
    type text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, UNIQUE (session_id, seq)
);
INSERT INTO session_v2 (id, project_id, slug, directory, version, time_created, time_updated)
    VALUES ('ses_old', 'p', 'old', '/srv/app', '2.0.26', 1772359200000, 1772359200000);
INSERT INTO session_message (id, session_id, type, seq, time_created, time_updated, data)
    VALUES ('msg_old', 'ses_old', 'user', 0, 1772359200000, 1772359200000, '{"text":"old prompt","time":{"created":1772359200000}}');
