"""One module for each trace format."""
