"""What was found by observing another scheduler: read from a store, printed, and written as a page."""
