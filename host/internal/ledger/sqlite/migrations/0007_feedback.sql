-- What a reader said last about a run; it goes when the run goes.
CREATE TABLE feedback (
	run     INTEGER PRIMARY KEY REFERENCES runs (place) ON DELETE CASCADE,
	rating  TEXT    NOT NULL,
	comment TEXT    NOT NULL,
	at      INTEGER NOT NULL
) STRICT;
