"""A world that is told from outside: the same engine and policies as in simulations."""
