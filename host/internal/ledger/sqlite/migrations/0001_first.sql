-- One row per run. It stays small because every append rewrites it: long texts live in run_bodies.
CREATE TABLE runs (
	place       INTEGER PRIMARY KEY AUTOINCREMENT, -- order of arrival
	tenant      TEXT    NOT NULL,
	id          TEXT    NOT NULL,
	session_id  TEXT    NOT NULL,
	user_key    TEXT    NOT NULL,
	kind        TEXT    NOT NULL CHECK (kind IN ('chat', 'background')),
	status      TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
	phase       TEXT    NOT NULL DEFAULT '' CHECK (phase IN ('', 'awaiting_approval', 'ready')),
	owner       TEXT    NOT NULL DEFAULT '', -- incarnation that drives it, empty when nobody does
	keeper      TEXT    NOT NULL DEFAULT '', -- incarnation that drove it last
	epoch       INTEGER NOT NULL DEFAULT 0,
	attempts    INTEGER NOT NULL DEFAULT 0,
	cancel      TEXT    NOT NULL DEFAULT '',
	created_at  INTEGER NOT NULL, -- all times are microseconds since 1970, UTC
	started_at  INTEGER,
	finished_at INTEGER,
	next_seq    INTEGER NOT NULL DEFAULT 0, -- number of events
	-- sums over what belongs to the run, so that the summary reads no other table
	event_bytes INTEGER NOT NULL DEFAULT 0,
	errors      INTEGER NOT NULL DEFAULT 0,
	audits      INTEGER NOT NULL DEFAULT 0,
	audit_bytes INTEGER NOT NULL DEFAULT 0,
	decisions   INTEGER NOT NULL DEFAULT 0,
	calls       INTEGER NOT NULL DEFAULT 0,
	call_time   INTEGER NOT NULL DEFAULT 0, -- nanoseconds
	body_bytes  INTEGER NOT NULL DEFAULT 0,
	prompt_tokens     INTEGER NOT NULL DEFAULT 0,
	completion_tokens INTEGER NOT NULL DEFAULT 0,
	total_tokens      INTEGER NOT NULL DEFAULT 0,
	UNIQUE (tenant, id),
	CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
	CHECK (owner = '' OR (finished_at IS NULL AND phase = ''))
) STRICT;

CREATE INDEX runs_by_time ON runs (created_at);
CREATE INDEX runs_by_tenant ON runs (tenant, created_at);
CREATE INDEX runs_by_id ON runs (id);
CREATE INDEX runs_by_status ON runs (status, created_at);
CREATE INDEX runs_by_session ON runs (session_id, created_at);
CREATE INDEX runs_by_user ON runs (user_key, created_at);
CREATE INDEX runs_by_end ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_failed ON runs (finished_at) WHERE status = 'failed';
CREATE INDEX runs_claimable ON runs (created_at, place)
	WHERE kind = 'background' AND owner = '' AND cancel = '' AND (status = 'queued' OR phase = 'ready');

CREATE TABLE run_bodies (
	run     INTEGER PRIMARY KEY REFERENCES runs (place) ON DELETE CASCADE,
	request BLOB NOT NULL, -- JSON
	outcome BLOB NOT NULL  -- JSON
) STRICT;

CREATE TABLE events (
	run      INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	sequence INTEGER NOT NULL,
	time     INTEGER NOT NULL,
	kind     TEXT    NOT NULL,
	payload  BLOB    NOT NULL, -- JSON
	PRIMARY KEY (run, sequence)
) STRICT;

CREATE TABLE approvals (
	place        INTEGER PRIMARY KEY AUTOINCREMENT,
	id           TEXT    NOT NULL UNIQUE,
	run          INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	session_id   TEXT    NOT NULL,
	user_key     TEXT    NOT NULL,
	tool_call_id TEXT    NOT NULL,
	tool_name    TEXT    NOT NULL,
	args         BLOB,
	args_digest  TEXT    NOT NULL,
	tool_digest  TEXT    NOT NULL,
	reason       TEXT    NOT NULL,
	decision     BLOB    NOT NULL, -- JSON
	status       TEXT    NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
	timeout      INTEGER NOT NULL, -- nanoseconds
	created_at   INTEGER NOT NULL,
	expires_at   INTEGER NOT NULL,
	resolved_at  INTEGER,
	resolved_by  TEXT    NOT NULL DEFAULT '',
	resolution   TEXT    NOT NULL DEFAULT '',
	CHECK ((status = 'pending') = (resolved_at IS NULL))
) STRICT;

CREATE INDEX approvals_by_time ON approvals (created_at);
CREATE INDEX approvals_by_run ON approvals (run, created_at);
CREATE INDEX approvals_by_status ON approvals (status, created_at);
CREATE INDEX approvals_by_session ON approvals (session_id, created_at);
CREATE INDEX approvals_by_user ON approvals (user_key, created_at);
CREATE INDEX approvals_by_tool ON approvals (tool_name, created_at);

CREATE TABLE audits (
	sequence      INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, even after pruning
	run           INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	at            INTEGER NOT NULL,
	stage         TEXT    NOT NULL,
	call_id       TEXT    NOT NULL,
	user_key      TEXT    NOT NULL,
	tool          TEXT    NOT NULL,
	tool_digest   TEXT    NOT NULL,
	args_digest   TEXT    NOT NULL,
	decision      BLOB, -- JSON
	approval_id   TEXT    NOT NULL,
	dispatched    INTEGER NOT NULL,
	is_error      INTEGER NOT NULL,
	result_digest TEXT    NOT NULL,
	duration      INTEGER NOT NULL -- nanoseconds
) STRICT;

CREATE INDEX audits_by_run ON audits (run, sequence);

-- One row that Ping writes to.
CREATE TABLE pulse (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	at INTEGER NOT NULL
) STRICT;
INSERT INTO pulse (id, at) VALUES (1, 0);
