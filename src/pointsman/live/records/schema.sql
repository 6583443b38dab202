-- A live cluster: what users asked for, what was decided and what became of it. Times are logical milliseconds since the
-- store was made unless named _unix_ms. Two constraints are the invariants: no job runs twice, no GPU is given twice.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY,                 -- the row by which the world knows it; never given again
  uid INTEGER NOT NULL,
  request_key TEXT,                       -- a submission that is repeated is the same job
  spec TEXT NOT NULL,                     -- JSON
  kind INTEGER NOT NULL,
  submit_ms INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0,        -- whether a user holds it
  end_ms INTEGER,
  state TEXT,                             -- JobState in which it ended
  UNIQUE (uid, request_key)
) STRICT;
CREATE INDEX jobs_alive ON jobs (id) WHERE end_ms IS NULL;

CREATE INDEX jobs_ended ON jobs (end_ms) WHERE end_ms IS NOT NULL;

CREATE TABLE kinds (                      -- of jobs, in the order in which they came
  number INTEGER PRIMARY KEY,
  kind TEXT NOT NULL                      -- JSON, by the names of the job table
) STRICT;

CREATE TABLE attempts (
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('INTENDED', 'SENT', 'RUNNING', 'STOPPING', 'ENDED')),
  parts TEXT NOT NULL,                    -- JSON: [[node, mask], ...]
  reason TEXT NOT NULL,
  cause TEXT,                             -- why it is to stop
  intended_ms INTEGER NOT NULL,
  sent_ms INTEGER,
  started_ms INTEGER,
  stopping_ms INTEGER,                    -- when it was decided that it stops
  stop_ms INTEGER,                        -- when its backend was heard to have been asked
  missing_ms INTEGER,
  ended_ms INTEGER,
  began_unix_ms INTEGER,                  -- when it really did, where that is known
  ended_unix_ms INTEGER,
  exit_code INTEGER,
  exit_signal INTEGER,
  detail TEXT NOT NULL DEFAULT '',        -- what a person should know of its end
  PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_attempt_alive ON attempts (job) WHERE stage <> 'ENDED';

CREATE TABLE seats (                      -- of attempts that have not ended
  node TEXT NOT NULL,
  gpu INTEGER NOT NULL,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (node, gpu)
) STRICT, WITHOUT ROWID;

CREATE TABLE pauses (                     -- of jobs whose starts have failed
  job INTEGER PRIMARY KEY,
  failures INTEGER NOT NULL,              -- in a row
  release_ms INTEGER                      -- NULL: it is not held any more
) STRICT;

CREATE TABLE nodes (
  name TEXT PRIMARY KEY,
  state INTEGER NOT NULL,                 -- NodeState as the world knows it
  wanted INTEGER NOT NULL DEFAULT 0,      -- NodeState as an operator, or a run of failed starts, wants it
  reason TEXT
) STRICT;

CREATE TABLE journal (                    -- what the world was told, in order: with a checkpoint, the world itself
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  what TEXT NOT NULL,                     -- submit, tell, ask, node, grow or advance
  row INTEGER NOT NULL,                   -- of the job; a node's position
  args TEXT NOT NULL                      -- JSON
) STRICT;

CREATE TABLE checkpoints (
  seq INTEGER PRIMARY KEY,                -- up to which row of the journal it goes
  kinds INTEGER NOT NULL,                 -- how many the world knew
  data BLOB NOT NULL
) STRICT;
