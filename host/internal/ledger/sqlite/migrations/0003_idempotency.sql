-- The key under which a client asked for a run; it goes when the run goes.
CREATE TABLE idempotency (
	tenant   TEXT    NOT NULL,
	user_key TEXT    NOT NULL,
	key      TEXT    NOT NULL,
	run      INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
	PRIMARY KEY (tenant, user_key, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_run ON idempotency (run);
