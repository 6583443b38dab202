"""Learning to schedule: environments (no torch), networks, algorithms, checkpoints, and learned policies."""
