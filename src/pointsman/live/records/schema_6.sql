-- From version 5 of the schema to 6: promises are learnt from.

ALTER TABLE promises ADD COLUMN scale_ms INTEGER; -- what an error of likely_ms is measured by; NULL: not known

CREATE INDEX jobs_by_key ON jobs (request_key) WHERE request_key IS NOT NULL; -- which begins with what users call a job

CREATE INDEX attempts_preempted ON attempts (stopping_ms) WHERE cause = 'preempt';
