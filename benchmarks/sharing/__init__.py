"""Jobs that share GPUs: makes ``docs/results/sharing.md``."""
