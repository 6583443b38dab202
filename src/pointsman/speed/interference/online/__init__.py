"""What a scheduler learns of interference while it runs."""
