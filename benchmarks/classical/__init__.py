"""The classical policies on suite v1 and three real logs: makes the tables of ``docs/results/classical.md``."""
