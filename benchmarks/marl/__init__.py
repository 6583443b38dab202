"""MARL beside its baselines: trainings, runs that resume, and the tables of ``docs/results/marl.md``."""
