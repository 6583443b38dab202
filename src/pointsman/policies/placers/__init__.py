"""Policies in the order of `fifo-backfill` that differ in placement alone: the baselines of MARL."""
