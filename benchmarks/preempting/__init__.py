"""What an agent could gain that chooses, on top of `gittins`, which job starts, which is preempted, and which waits."""
