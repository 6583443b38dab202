-- From version 2 of the schema to 3.

CREATE TABLE alarms (                     -- what an operator must know
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  said TEXT NOT NULL
) STRICT;

ALTER TABLE promises ADD COLUMN kept INTEGER;  -- 1: it started within its range, 0: it did not; NULL: not yet
UPDATE promises SET kept = (
  SELECT started_ms BETWEEN early_ms AND ifnull(late_ms, started_ms) FROM attempts
  WHERE attempts.job = promises.job AND attempt = 1
);
CREATE INDEX promises_told ON promises (kept) WHERE kept IS NOT NULL;
