"""A run as a timeline: the Trace Event format, which Perfetto and ``chrome://tracing`` open."""
