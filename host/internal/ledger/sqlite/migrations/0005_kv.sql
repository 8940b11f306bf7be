-- What plugins keep from call to call, for each tenant apart. A value that is set anew gets a new row, so that no
-- version comes twice.
CREATE TABLE kv (
	version INTEGER PRIMARY KEY AUTOINCREMENT,
	plugin  TEXT NOT NULL,
	tenant  TEXT NOT NULL,
	key     TEXT NOT NULL,
	value   BLOB NOT NULL,
	UNIQUE (plugin, tenant, key)
) STRICT;

-- The bytes of one plugin's keys and values for one tenant, so that nobody has to count them.
CREATE TABLE kv_used (
	plugin TEXT NOT NULL,
	tenant TEXT NOT NULL,
	bytes  INTEGER NOT NULL,
	PRIMARY KEY (plugin, tenant)
) STRICT, WITHOUT ROWID;
