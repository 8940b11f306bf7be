-- The ledger as it is in SQLite, in PostgreSQL's types. All times are microseconds since 1970, UTC, unless a column
-- says otherwise; JSON is kept as the bytes that were given; flags are 0 and 1.

-- One row per run. It stays small because every append rewrites it: long texts live in run_bodies. Pages have room for
-- the next version of a row, so that an append that moves no index writes none.
CREATE TABLE runs (
	place       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- order of arrival
	tenant      TEXT   NOT NULL,
	id          TEXT   NOT NULL,
	session_id  TEXT   NOT NULL,
	user_key    TEXT   NOT NULL,
	kind        TEXT   NOT NULL CHECK (kind IN ('chat', 'background')),
	status      TEXT   NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
	phase       TEXT   NOT NULL DEFAULT '' CHECK (phase IN ('', 'awaiting_approval', 'ready')),
	owner       TEXT   NOT NULL DEFAULT '', -- incarnation that drives it, empty when nobody does
	epoch       BIGINT NOT NULL DEFAULT 0,
	attempts    BIGINT NOT NULL DEFAULT 0,
	cancel      TEXT   NOT NULL DEFAULT '',
	created_at  BIGINT NOT NULL,
	started_at  BIGINT,
	finished_at BIGINT,
	in_turn     BIGINT NOT NULL DEFAULT 0,  -- it is not claimed before the earlier runs of its session are over
	lease_until BIGINT NOT NULL DEFAULT 0,  -- until when it is its owner's; 0 without one
	not_before  BIGINT NOT NULL DEFAULT 0,  -- it is not claimed earlier
	claimed_seq BIGINT NOT NULL DEFAULT -1, -- next_seq at the last claim; -1: none since then
	barren      BIGINT NOT NULL DEFAULT 0,  -- claims in a row that ended without a new event
	first_seq   BIGINT NOT NULL DEFAULT 0,  -- of the first event that is still there
	next_seq    BIGINT NOT NULL DEFAULT 0,  -- number of events
	-- sums over what belongs to the run, so that the summary reads no other table
	event_bytes BIGINT NOT NULL DEFAULT 0,
	errors      BIGINT NOT NULL DEFAULT 0,
	audits      BIGINT NOT NULL DEFAULT 0,
	audit_bytes BIGINT NOT NULL DEFAULT 0,
	decisions   BIGINT NOT NULL DEFAULT 0,
	calls       BIGINT NOT NULL DEFAULT 0,
	call_time   BIGINT NOT NULL DEFAULT 0, -- nanoseconds
	body_bytes  BIGINT NOT NULL DEFAULT 0,
	prompt_tokens     BIGINT NOT NULL DEFAULT 0,
	completion_tokens BIGINT NOT NULL DEFAULT 0,
	total_tokens      BIGINT NOT NULL DEFAULT 0,
	UNIQUE (tenant, id),
	CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
	CHECK (owner = '' OR (finished_at IS NULL AND phase = ''))
) WITH (fillfactor = 70);

CREATE INDEX runs_by_time ON runs (created_at);
CREATE INDEX runs_by_tenant ON runs (tenant, created_at);
CREATE INDEX runs_by_id ON runs (id);
CREATE INDEX runs_by_status ON runs (status, created_at);
CREATE INDEX runs_by_session ON runs (session_id, created_at);
CREATE INDEX runs_by_user ON runs (user_key, created_at);
CREATE INDEX runs_by_end ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_failed ON runs (finished_at) WHERE status = 'failed';
CREATE INDEX runs_claimable ON runs (kind, created_at, place)
	WHERE finished_at IS NULL AND cancel = '' AND phase <> 'awaiting_approval';
CREATE INDEX runs_driven ON runs (owner) WHERE owner <> '';
CREATE INDEX runs_adrift ON runs (created_at, place) WHERE finished_at IS NULL AND cancel <> '';
CREATE INDEX runs_remembered ON runs (tenant, user_key, session_id, finished_at, place) WHERE status = 'completed';
CREATE INDEX runs_unfinished ON runs (tenant, user_key, session_id, place) WHERE finished_at IS NULL;

CREATE TABLE run_bodies (
	run     BIGINT PRIMARY KEY REFERENCES runs (place) ON DELETE CASCADE,
	request BYTEA  NOT NULL, -- JSON
	outcome BYTEA  NOT NULL, -- JSON
	listing BYTEA  NOT NULL  -- JSON: what a list shows of a request, all but what may be as long as one
);

CREATE TABLE events (
	run      BIGINT NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	sequence BIGINT NOT NULL,
	time     BIGINT NOT NULL,
	kind     TEXT   NOT NULL,
	payload  BYTEA  NOT NULL, -- JSON
	PRIMARY KEY (run, sequence)
);

CREATE TABLE approvals (
	place        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id           TEXT   NOT NULL UNIQUE,
	run          BIGINT NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	session_id   TEXT   NOT NULL,
	user_key     TEXT   NOT NULL,
	tool_call_id TEXT   NOT NULL,
	tool_name    TEXT   NOT NULL,
	args         BYTEA,
	args_digest  TEXT   NOT NULL,
	tool_digest  TEXT   NOT NULL,
	reason       TEXT   NOT NULL,
	decision     BYTEA  NOT NULL, -- JSON
	status       TEXT   NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
	timeout      BIGINT NOT NULL, -- nanoseconds
	created_at   BIGINT NOT NULL,
	expires_at   BIGINT NOT NULL,
	resolved_at  BIGINT,
	resolved_by  TEXT   NOT NULL DEFAULT '',
	resolution   TEXT   NOT NULL DEFAULT '',
	kind         TEXT   NOT NULL DEFAULT '',
	choice       TEXT   NOT NULL DEFAULT '',
	CHECK ((status = 'pending') = (resolved_at IS NULL))
);

CREATE INDEX approvals_by_time ON approvals (created_at);
CREATE INDEX approvals_by_run ON approvals (run, created_at);
CREATE INDEX approvals_by_status ON approvals (status, created_at);
CREATE INDEX approvals_by_session ON approvals (session_id, created_at);
CREATE INDEX approvals_by_user ON approvals (user_key, created_at);
CREATE INDEX approvals_by_tool ON approvals (tool_name, created_at);
CREATE INDEX approvals_pending ON approvals (status, expires_at) WHERE status = 'pending';
CREATE INDEX approvals_open ON approvals (run, status) WHERE status = 'pending';

-- Audit records of calls that belong to no run stand in the same sequence: such a note has no run of this ledger, and
-- says itself what it is about.
CREATE TABLE audits (
	sequence      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never given twice, even after pruning
	run           BIGINT REFERENCES runs (place) ON DELETE CASCADE, -- NULL: a note
	at            BIGINT NOT NULL,
	stage         TEXT   NOT NULL,
	call_id       TEXT   NOT NULL,
	user_key      TEXT   NOT NULL,
	tool          TEXT   NOT NULL,
	tool_digest   TEXT   NOT NULL,
	args_digest   TEXT   NOT NULL,
	decision      BYTEA, -- JSON
	approval_id   TEXT   NOT NULL,
	dispatched    BIGINT NOT NULL,
	is_error      BIGINT NOT NULL,
	result_digest TEXT   NOT NULL,
	duration      BIGINT NOT NULL, -- nanoseconds
	gas           BIGINT NOT NULL DEFAULT 0, -- of the plugins of the call; on outcomes, of the tool and the scope filter
	noted_tenant  TEXT, -- of a note alone
	noted_id      TEXT,
	CHECK ((run IS NULL) = (noted_id IS NOT NULL) AND (run IS NULL) = (noted_tenant IS NOT NULL))
);

CREATE INDEX audits_by_run ON audits (run, sequence);
CREATE INDEX audits_noted ON audits (at) WHERE noted_id IS NOT NULL;

-- One row that Ping writes to.
CREATE TABLE pulse (
	id BIGINT PRIMARY KEY CHECK (id = 1),
	at BIGINT NOT NULL
);
INSERT INTO pulse (id, at) VALUES (1, 0);

-- What people outside must be told about approvals. A row goes when it was delivered or given up.
CREATE TABLE outbox (
	place      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         TEXT   NOT NULL UNIQUE,
	approval   TEXT   NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
	kind       TEXT   NOT NULL CHECK (kind IN ('approval.requested', 'approval.settled')),
	created_at BIGINT NOT NULL,
	due_at     BIGINT NOT NULL,
	attempts   BIGINT NOT NULL DEFAULT 0, -- tries that failed
	UNIQUE (approval, kind)
);

CREATE INDEX outbox_by_due ON outbox (due_at, place);

-- The key under which a client asked for a run; it goes when the run goes.
CREATE TABLE idempotency (
	tenant   TEXT   NOT NULL,
	user_key TEXT   NOT NULL,
	key      TEXT   NOT NULL,
	run      BIGINT NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	PRIMARY KEY (tenant, user_key, key)
);

CREATE INDEX idempotency_by_run ON idempotency (run);

-- Under which keys approvals were answered and runs cancelled.
CREATE TABLE answers (
	tenant TEXT   NOT NULL,
	key    TEXT   NOT NULL,
	digest TEXT   NOT NULL, -- of the request
	at     BIGINT NOT NULL,
	PRIMARY KEY (tenant, key)
);

CREATE INDEX answers_by_time ON answers (at);

-- What plugins keep from call to call, for each tenant apart. A value that is set anew gets a new row, so that no
-- version comes twice.
CREATE TABLE kv (
	version BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	plugin  TEXT  NOT NULL,
	tenant  TEXT  NOT NULL,
	key     TEXT  NOT NULL,
	value   BYTEA NOT NULL,
	UNIQUE (plugin, tenant, key)
);

-- The bytes of one plugin's keys and values for one tenant, so that nobody has to count them.
CREATE TABLE kv_used (
	plugin TEXT   NOT NULL,
	tenant TEXT   NOT NULL,
	bytes  BIGINT NOT NULL,
	PRIMARY KEY (plugin, tenant)
);

-- What a reader said last about a run; it goes when the run goes.
CREATE TABLE feedback (
	run     BIGINT PRIMARY KEY REFERENCES runs (place) ON DELETE CASCADE,
	rating  TEXT   NOT NULL,
	comment TEXT   NOT NULL,
	at      BIGINT NOT NULL
);

-- The book of each workspace's research. It only grows.
CREATE TABLE research (
	sequence  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	workspace TEXT   NOT NULL,
	kind      TEXT   NOT NULL CHECK (kind IN ('plan', 'grant', 'campaign', 'result', 'revocation')),
	at        BIGINT NOT NULL,
	key       TEXT   NOT NULL, -- empty: none
	digest    TEXT   NOT NULL,
	body      BYTEA  NOT NULL  -- JSON
);

CREATE INDEX research_by_workspace ON research (workspace, sequence);
CREATE INDEX research_plans ON research (workspace, sequence) WHERE kind = 'plan';
CREATE UNIQUE INDEX research_keys ON research (workspace, key) WHERE key <> '';

CREATE FUNCTION research_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'research is never changed and never removed';
END $$;

CREATE TRIGGER research_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON research
	FOR EACH STATEMENT EXECUTE FUNCTION research_stays();

-- The processes that share the ledger.
CREATE TABLE nodes (
	owner TEXT   PRIMARY KEY, -- incarnation
	name  TEXT   NOT NULL,
	since BIGINT NOT NULL,
	seen  BIGINT NOT NULL,
	lease BIGINT NOT NULL, -- microseconds that it counts as alive after that
	runs  BIGINT NOT NULL
);

-- What one of them does for all.
CREATE TABLE duties (
	duty  TEXT   PRIMARY KEY,
	owner TEXT   NOT NULL,
	until BIGINT NOT NULL
);
