"""Data-centre topologies: one file each, and what all of them have in common."""
