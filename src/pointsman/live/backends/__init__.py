"""What runs the jobs: a simulated cluster, or processes of one machine."""
