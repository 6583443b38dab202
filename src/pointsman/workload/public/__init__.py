"""Public job logs: where their publishers keep them, and how they are fetched."""
