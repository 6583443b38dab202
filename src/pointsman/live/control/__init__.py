"""The loop between a world and a backend, and what it keeps."""
