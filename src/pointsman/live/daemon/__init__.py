"""The process that owns a live cluster, and what it answers over its socket."""
