"""Exports of `sacct` and `scontrol` of sites that never were, and what is true of them.

`site.py` is what happened, `strategies.py` draws it, `as_text.py` and `as_json.py` print it as Slurm does, `truth.py`
says which jobs a reader must find in it. Nothing here imports Pointsman: it is written from Slurm's output alone.
"""
