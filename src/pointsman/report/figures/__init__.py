"""The figures of a report, drawn with matplotlib, which is imported only when one is drawn."""
