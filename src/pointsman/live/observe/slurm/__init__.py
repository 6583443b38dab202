"""A cluster that Slurm runs, as it is observed."""
