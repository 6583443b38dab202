"""What runs the jobs: a simulated cluster so far."""
