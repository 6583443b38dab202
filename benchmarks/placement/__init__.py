"""Placement alone: the baselines of MARL beside each other, and the training of the linear scorer."""
