"""What observations are made of."""
