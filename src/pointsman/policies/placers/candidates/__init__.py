"""Candidate placements of a whole gang, and what speaks against each: what `scorer` and learned agents choose by."""
