"""Pages of results: runs, a data file of them, and a page whose figures are filled in from it."""
