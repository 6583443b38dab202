"""Why the loop returned to Python."""

DONE, LOG_FULL, INBOX_FULL, UNTIL, DECISIONS, AUDIT_FAILED, HOSTED, WRONG_FACTOR = range(8)
