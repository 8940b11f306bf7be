-- What people outside must be told about approvals. A row goes when it was delivered or given up.
CREATE TABLE outbox (
	place      INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT    NOT NULL UNIQUE,
	approval   TEXT    NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
	kind       TEXT    NOT NULL CHECK (kind IN ('approval.requested', 'approval.settled')),
	created_at INTEGER NOT NULL, -- all times are microseconds since 1970, UTC
	due_at     INTEGER NOT NULL,
	attempts   INTEGER NOT NULL DEFAULT 0, -- tries that failed
	UNIQUE (approval, kind)
) STRICT;

CREATE INDEX outbox_by_due ON outbox (due_at, place);
