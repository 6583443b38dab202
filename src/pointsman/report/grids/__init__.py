"""Grids: the same policies in several cells, each with a cluster, a load and an estimate of its own."""
