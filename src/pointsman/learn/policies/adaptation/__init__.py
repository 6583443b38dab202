"""How a policy adapts to other jobs while it runs: when, in what it rehearses, and from which weights."""
