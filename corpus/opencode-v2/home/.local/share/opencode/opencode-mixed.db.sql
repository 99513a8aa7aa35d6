-- A database that OpenCode 2 imported, and that V1 and its second engine went on with.
CREATE TABLE session (
  id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (
  id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE TABLE session_v2 (
  id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text, version text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL
);
CREATE TABLE session_message (
  id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE UNIQUE INDEX session_message_seq ON session_message (session_id, seq);

-- Imported from V1
INSERT INTO session_v2 VALUES ('ses_2f24ffeShopShopShopShop24', NULL, '/srv/app/shop', 'Imported from V1', '2.0.26', 1774429200000, 1774429206000);
INSERT INTO session_message VALUES ('msg_2f24001', 'ses_2f24ffeShopShopShopShop24', 'user', 5, 1774429203000, 1774429203000, '{"text":"An old prompt","time":{"created":1774429203000}}');
INSERT INTO session_message VALUES ('msg_2f24002', 'ses_2f24ffeShopShopShopShop24', 'assistant', 10, 1774429206000, 1774429206000, '{"agent":"build","model":{"id":"gpt-5","providerID":"openai"},"content":[{"type":"tool","id":"call_1","name":"shell","provider":{"executed":false},"state":{"status":"completed","input":{"command":"make old"},"content":[{"type":"text","text":"gone"}],"metadata":{"exit":2}},"time":{"created":1774429206100}}],"finish":"tool-calls","time":{"created":1774429206000,"completed":1774429206900}}');
INSERT INTO session VALUES ('ses_2f24ffeShopShopShopShop24', NULL, '/srv/app/shop', 'Imported from V1', '1.18.34', 1774429200000, 1774429200000);

-- Of the second engine, after the import
INSERT INTO session VALUES ('ses_2f25ffeShopShopShopShop25', NULL, '/srv/app/shop', 'Of the second engine, after the import', '1.18.34', 1774515600000, 1774515606000);
INSERT INTO session_message VALUES ('msg_2f25001', 'ses_2f25ffeShopShopShopShop25', 'user', 5, 1774515603000, 1774515603000, '{"text":"Try it with the engine","time":{"created":1774515603000}}');
INSERT INTO session_message VALUES ('msg_2f25002', 'ses_2f25ffeShopShopShopShop25', 'assistant', 10, 1774515606000, 1774515606000, '{"agent":"build","model":{"id":"gpt-5","providerID":"openai"},"content":[{"type":"tool","id":"call_1","name":"bash","provider":{"executed":false},"state":{"status":"completed","input":{"command":"make new"},"content":[{"type":"text","text":"no rule"},{"type":"text","text":"Command exited with code 2."}],"structured":{"exit":2}},"time":{"created":1774515606100}}],"finish":"stop","time":{"created":1774515606000,"completed":1774515606900}}');

-- Of V1, after the import
INSERT INTO session VALUES ('ses_0f26ffeShopShopShopShop26', NULL, '/srv/app/shop', 'Of V1, after the import', '1.18.34', 1774602000000, 1774602009000);
INSERT INTO message VALUES ('msg_0f26001', 'ses_0f26ffeShopShopShopShop26', 1774602003000, 1774602003000, '{"role":"user","time":{"created":1774602003000},"agent":"build"}');
INSERT INTO part VALUES ('prt_0f260010', 'msg_0f26001', 'ses_0f26ffeShopShopShopShop26', 1774602003000, 1774602003000, '{"type":"text","text":"And once more with V1"}');
INSERT INTO message VALUES ('msg_0f26002', 'ses_0f26ffeShopShopShopShop26', 1774602006000, 1774602006000, '{"role":"assistant","modelID":"gpt-5","providerID":"openai","path":{"cwd":"/srv/app/shop","root":"/srv/app/shop"},"time":{"created":1774602006000,"completed":1774602006900}}');
INSERT INTO part VALUES ('prt_0f260020', 'msg_0f26002', 'ses_0f26ffeShopShopShopShop26', 1774602006000, 1774602006000, '{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"make again"},"output":"no rule","metadata":{"output":"no rule","exit":2},"time":{"start":1774602006100,"end":1774602006500}}}');
INSERT INTO message VALUES ('msg_0f26003', 'ses_0f26ffeShopShopShopShop26', 1774602009000, 1774602009000, '{"role":"assistant","modelID":"gpt-5","providerID":"openai","path":{"cwd":"/srv/app/shop","root":"/srv/app/shop"},"time":{"created":1774602009000,"completed":1774602009900}}');
INSERT INTO part VALUES ('prt_0f260030', 'msg_0f26003', 'ses_0f26ffeShopShopShopShop26', 1774602009000, 1774602009000, '{"type":"text","text":"No rule."}');

-- A sub-agent of V1, after the import
INSERT INTO session VALUES ('ses_0f27ffeShopShopShopShop27', 'ses_0f26ffeShopShopShopShop26', '/srv/app/shop', 'A sub-agent of V1, after the import', '1.18.34', 1774688400000, 1774688406000);
INSERT INTO message VALUES ('msg_0f27001', 'ses_0f27ffeShopShopShopShop27', 1774688403000, 1774688403000, '{"role":"user","time":{"created":1774688403000},"agent":"build"}');
INSERT INTO part VALUES ('prt_0f270010', 'msg_0f27001', 'ses_0f27ffeShopShopShopShop27', 1774688403000, 1774688403000, '{"type":"text","text":"Words of the parent"}');
INSERT INTO message VALUES ('msg_0f27002', 'ses_0f27ffeShopShopShopShop27', 1774688406000, 1774688406000, '{"role":"assistant","modelID":"gpt-5","providerID":"openai","path":{"cwd":"/srv/app/shop","root":"/srv/app/shop"},"time":{"created":1774688406000,"completed":1774688406900}}');
INSERT INTO part VALUES ('prt_0f270020', 'msg_0f27002', 'ses_0f27ffeShopShopShopShop27', 1774688406000, 1774688406000, '{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"exit 9"},"output":"","metadata":{"output":"","exit":9},"time":{"start":1774688406100,"end":1774688406500}}}');
