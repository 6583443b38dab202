"""What policies are told of jobs' durations where nobody says: estimates from the jobs that have finished."""
