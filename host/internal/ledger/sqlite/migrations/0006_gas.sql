-- What the plugins of a call used: on outcomes the tool and the scope filter. The gas of verdicts stands in decisions.
ALTER TABLE audits ADD COLUMN gas INTEGER NOT NULL DEFAULT 0;
