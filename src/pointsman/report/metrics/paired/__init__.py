"""How far two policies differ on the same jobs: in figures, and for whom."""
