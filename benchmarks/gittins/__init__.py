"""What `gittins` gains, and where it does not."""
