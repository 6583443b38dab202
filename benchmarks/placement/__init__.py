"""Placement alone: the baselines of MARL beside each other."""
