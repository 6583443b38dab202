"""What may come of a live cluster: when jobs start, and what would be if something else were done."""
