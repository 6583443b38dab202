"""What agents see, a module each: `shapes(slots)` names its parts, and the compiled `observe(S, window, out)` writes
them one behind the other. A user's own is a file with both.
"""
