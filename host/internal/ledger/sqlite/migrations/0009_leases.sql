-- Who drives a run does so for a time. Times are microseconds since 1970, UTC.
ALTER TABLE runs ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0;  -- until when it is its owner's; 0 without one
ALTER TABLE runs ADD COLUMN not_before  INTEGER NOT NULL DEFAULT 0;  -- it is not claimed earlier
ALTER TABLE runs ADD COLUMN claimed_seq INTEGER NOT NULL DEFAULT -1; -- next_seq at the last claim; -1: none since then
ALTER TABLE runs ADD COLUMN barren      INTEGER NOT NULL DEFAULT 0;  -- claims in a row that ended without a new event
ALTER TABLE runs ADD COLUMN first_seq   INTEGER NOT NULL DEFAULT 0;  -- of the first event that is still there
ALTER TABLE runs DROP COLUMN keeper;

-- A run that was begun and handed back goes on from where it was.
UPDATE runs SET status = 'running', phase = 'ready' WHERE status = 'queued' AND started_at IS NOT NULL AND owner = '';

DROP INDEX runs_claimable;
CREATE INDEX runs_claimable ON runs (kind, created_at, place)
	WHERE finished_at IS NULL AND cancel = '' AND phase <> 'awaiting_approval';
CREATE INDEX runs_driven ON runs (owner) WHERE owner <> '';
CREATE INDEX runs_adrift ON runs (created_at, place) WHERE finished_at IS NULL AND cancel <> '';

-- What a list shows of a request: all but what may be as long as one.
ALTER TABLE run_bodies ADD COLUMN listing BLOB NOT NULL DEFAULT x'7B7D'; -- JSON
UPDATE run_bodies SET listing =
	CAST(json_remove(CAST(request AS TEXT), '$.messages', '$.skills', '$.tool_policy') AS BLOB);

ALTER TABLE approvals ADD COLUMN kind   TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN choice TEXT NOT NULL DEFAULT '';
CREATE INDEX approvals_pending ON approvals (status, expires_at) WHERE status = 'pending';
-- With both columns, so that what is pending of one run is not looked for in all that is pending.
CREATE INDEX approvals_open ON approvals (run, status) WHERE status = 'pending';

-- Under which keys approvals were answered and runs cancelled.
CREATE TABLE answers (
	tenant TEXT    NOT NULL,
	key    TEXT    NOT NULL,
	digest TEXT    NOT NULL, -- of the request
	at     INTEGER NOT NULL,
	PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_by_time ON answers (at);

-- The processes that share the ledger.
CREATE TABLE nodes (
	owner TEXT    PRIMARY KEY, -- incarnation
	name  TEXT    NOT NULL,
	since INTEGER NOT NULL,
	seen  INTEGER NOT NULL,
	lease INTEGER NOT NULL, -- microseconds that it counts as alive after that
	runs  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What one of them does for all.
CREATE TABLE duties (
	duty  TEXT    PRIMARY KEY,
	owner TEXT    NOT NULL,
	until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
