"""What a daemon keeps: jobs, attempts, and the file that outlives it."""
