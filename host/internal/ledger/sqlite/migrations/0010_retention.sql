-- What of finished runs is removed is found without a scan.
CREATE INDEX runs_whole ON runs (finished_at) WHERE finished_at IS NOT NULL AND first_seq < next_seq - 1;
CREATE INDEX runs_kept ON runs (tenant, finished_at, place) WHERE finished_at IS NOT NULL;
