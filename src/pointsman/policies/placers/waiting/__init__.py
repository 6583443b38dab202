"""How long jobs of placers wait: for a compact place, and at most."""
