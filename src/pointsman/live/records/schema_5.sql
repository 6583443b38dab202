-- From version 4 of the schema to 5: another scheduler decides, and is observed.

CREATE TABLE decisions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  job INTEGER,                            -- that was started; NULL: none was, though GPUs were free
  agrees INTEGER NOT NULL,                -- whether the policy would have started it, too
  instead TEXT NOT NULL,                  -- JSON: what else it would have done, [[verb, job], ...]
  said TEXT NOT NULL                      -- in a sentence, where they differ
) STRICT;

CREATE TABLE worths (                     -- what the policy would change from then on, by futures of the jobs there
  at_ms INTEGER PRIMARY KEY,
  jobs INTEGER NOT NULL,
  now_s REAL NOT NULL,                    -- the mean time until they end as it is
  change_s REAL NOT NULL,
  low_s REAL NOT NULL,                    -- 5 % of the futures are below
  high_s REAL NOT NULL,                   -- 5 % are above
  gain INTEGER NOT NULL,                  -- jobs that end more than a minute sooner
  lose INTEGER NOT NULL
) STRICT;

CREATE TABLE advised (                    -- jobs that have not ended, and whose nice values we have changed
  unit TEXT PRIMARY KEY,                  -- what the other scheduler calls it
  nice_before INTEGER NOT NULL,           -- its own
  nice_last INTEGER NOT NULL,             -- that it had, until the next is seen
  nice INTEGER NOT NULL,                  -- that we have set
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE looks (                      -- what looking cost, by the hour
  hour INTEGER NOT NULL,                  -- since the store was made
  command TEXT NOT NULL,
  requests INTEGER NOT NULL,              -- of the other scheduler
  longest_s REAL NOT NULL,
  PRIMARY KEY (hour, command)
) STRICT, WITHOUT ROWID;
