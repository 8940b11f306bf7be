-- Audit records of calls that belong to no run stand in the same sequence: such a note has no run of this ledger, and
-- says itself what it is about.
CREATE TABLE audits_and_notes (
	sequence      INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, even after pruning
	run           INTEGER REFERENCES runs (place) ON DELETE CASCADE, -- NULL: a note
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
	duration      INTEGER NOT NULL, -- nanoseconds
	gas           INTEGER NOT NULL DEFAULT 0,
	noted_tenant  TEXT, -- of a note alone
	noted_id      TEXT,
	CHECK ((run IS NULL) = (noted_id IS NOT NULL) AND (run IS NULL) = (noted_tenant IS NOT NULL))
) STRICT;

INSERT INTO audits_and_notes (sequence, run, at, stage, call_id, user_key, tool, tool_digest, args_digest, decision,
	approval_id, dispatched, is_error, result_digest, duration, gas)
SELECT sequence, run, at, stage, call_id, user_key, tool, tool_digest, args_digest, decision, approval_id, dispatched,
	is_error, result_digest, duration, gas
FROM audits;

-- What was given and pruned is not given again.
DELETE FROM sqlite_sequence WHERE name = 'audits_and_notes';
INSERT INTO sqlite_sequence (name, seq) SELECT 'audits_and_notes', seq FROM sqlite_sequence WHERE name = 'audits';

DROP TABLE audits;
ALTER TABLE audits_and_notes RENAME TO audits;
CREATE INDEX audits_by_run ON audits (run, sequence);
CREATE INDEX audits_noted ON audits (at) WHERE noted_id IS NOT NULL;

-- The book of each workspace's research. It only grows.
CREATE TABLE research (
	sequence  INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace TEXT    NOT NULL,
	kind      TEXT    NOT NULL CHECK (kind IN ('plan', 'grant', 'campaign', 'result', 'revocation')),
	at        INTEGER NOT NULL, -- microseconds since 1970, UTC
	key       TEXT    NOT NULL, -- empty: none
	digest    TEXT    NOT NULL,
	body      BLOB    NOT NULL  -- JSON
) STRICT;

CREATE INDEX research_by_workspace ON research (workspace, sequence);
CREATE INDEX research_plans ON research (workspace, sequence) WHERE kind = 'plan';
CREATE UNIQUE INDEX research_keys ON research (workspace, key) WHERE key <> '';

CREATE TRIGGER research_stays BEFORE DELETE ON research BEGIN
	SELECT RAISE(ABORT, 'research is never removed');
END;
CREATE TRIGGER research_is_written_once BEFORE UPDATE ON research BEGIN
	SELECT RAISE(ABORT, 'research is never changed');
END;
