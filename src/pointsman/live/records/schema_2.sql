-- From version 1 of the schema to 2.

CREATE TABLE promises (                   -- when jobs were said to start first, soon after they came
  job INTEGER PRIMARY KEY,
  made_ms INTEGER NOT NULL,
  early_ms INTEGER NOT NULL,              -- sooner in 5 % of the futures
  likely_ms INTEGER,                      -- NULL: not within a week
  late_ms INTEGER                         -- later in 5 % of the futures
) STRICT;

CREATE TABLE audit (                      -- who has changed what; submissions are in jobs
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  verb TEXT NOT NULL,
  target TEXT NOT NULL,                   -- a job, a node or a policy
  detail TEXT NOT NULL DEFAULT ''
) STRICT;
