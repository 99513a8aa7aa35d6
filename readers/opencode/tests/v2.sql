-- The tables of a fresh OpenCode 2 database (second-hand, 2.0.26).
CREATE TABLE session_v2 (
    id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, fork_session_id text,
    fork_boundary text, slug text NOT NULL, directory text NOT NULL, path text, title text, version text NOT NULL,
    metadata text, cost real DEFAULT 0 NOT NULL, revert text, permission text, agent text, model text,
    time_created integer NOT NULL, time_updated integer NOT NULL, time_idle integer, time_viewed integer,
    idle_outcome text, time_compacting integer, time_archived integer, time_suspended integer, resume_attempts integer
);
CREATE TABLE session_message (
    id text PRIMARY KEY, session_id text NOT NULL REFERENCES session_v2 (id), type text NOT NULL, seq integer NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL, UNIQUE (session_id, seq)
);
CREATE TABLE session_inbox (id text PRIMARY KEY);
CREATE TABLE event_sequence (id text PRIMARY KEY);
