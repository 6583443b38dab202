"""How far two policies differ on the same jobs: in metrics, and for whom."""
