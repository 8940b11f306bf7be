-- A run that waits for its turn is not claimed before the earlier runs of its session are over.
ALTER TABLE runs ADD COLUMN in_turn INTEGER NOT NULL DEFAULT 0;

-- What a conversation remembers, newest first.
CREATE INDEX runs_remembered ON runs (tenant, user_key, session_id, finished_at, place) WHERE status = 'completed';

CREATE INDEX runs_unfinished ON runs (tenant, user_key, session_id, place) WHERE finished_at IS NULL;
