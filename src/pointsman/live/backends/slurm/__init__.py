"""A cluster that Slurm runs."""
