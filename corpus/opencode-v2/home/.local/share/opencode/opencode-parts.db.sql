-- The tables of OpenCode 2, as far as they matter: from its public sources, not from a run of it.
CREATE TABLE session_v2 (
  id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text, version text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE session_message (
  id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE UNIQUE INDEX session_message_seq ON session_message (session_id, seq);
CREATE TABLE session_part (message_id text NOT NULL, ordinal integer NOT NULL, data text NOT NULL, PRIMARY KEY (message_id, ordinal));

-- Items in rows of their own (the table is known by name only)
INSERT INTO session_v2 VALUES ('ses_2f11ffeShopShopShopShop11', NULL, '/srv/app/shop', 'Items in rows of their own (the table is known by name only)', '2.0.26', 1773306000000, 1773306009000);
INSERT INTO session_message VALUES ('msg_2f11001', 'ses_2f11ffeShopShopShopShop11', 'user', 4, 1773306003000, 1773306003000, '{"text":"Is the mirror up?","time":{"created":1773306003000}}');
INSERT INTO session_message VALUES ('msg_2f11002', 'ses_2f11ffeShopShopShopShop11', 'assistant', 5, 1773306006000, 1773306006000, '{"agent":"build","model":{"id":"gpt-5","providerID":"openai"},"content":[],"time":{"created":1773306006000,"completed":1773306006900}}');
INSERT INTO session_part VALUES ('msg_2f11002', 0, '{"type":"text","text":"Checking."}');
INSERT INTO session_part VALUES ('msg_2f11002', 1, '{"type":"tool","id":"call_11_2","name":"shell","state":{"status":"completed","input":{"command":"mirror check"},"content":[{"type":"text","text":"stale"},{"type":"text","text":"Command exited with code 6."}],"metadata":{"exit":6}},"time":{"created":1773306009100}}');
INSERT INTO session_part VALUES ('msg_2f11002', 2, '{"type":"tool","id":"call_11_2","name":"shell","state":{"status":"completed","input":{"command":"mirror status"},"content":[{"type":"text","text":"up"}],"metadata":{"exit":0}},"time":{"created":1773306009100}}');
INSERT INTO session_part VALUES ('msg_2f11002', 3, '{"type":"tool","id":"call_11_2","name":"shell","state":{"status":"error","input":{"command":"mirror drop"},"error":{"type":"permission.rejected","message":"Permission denied: shell"}},"time":{"created":1773306009100}}');
INSERT INTO session_message VALUES ('msg_2f11003', 'ses_2f11ffeShopShopShopShop11', 'assistant', 9, 1773306009000, 1773306009000, '{"agent":"build","model":{"id":"gpt-5","providerID":"openai"},"content":[],"time":{"created":1773306009000,"completed":1773306009900}}');
INSERT INTO session_part VALUES ('msg_2f11003', 0, '{"type":"text","text":"It is stale."}');
