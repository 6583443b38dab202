"""Policies that differ in placement alone, and perhaps in the order of jobs: the baselines of MARL."""
