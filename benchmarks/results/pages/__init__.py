"""One module for each page: its trials, and what is filled into it."""
