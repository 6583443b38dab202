"""Data-centre topologies: one file each, their shorthands, and what all of them have in common."""
