"""What Slurm says of its nodes and switches."""
