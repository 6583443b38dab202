"""How far policies are from the schedule that the log records, and what may explain it."""
