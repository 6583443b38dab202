"""Daemons on a cluster that Slurm runs: how they are started, and one that says which jobs start."""
