"""What is filled into the page."""
BLOCKS = {}
