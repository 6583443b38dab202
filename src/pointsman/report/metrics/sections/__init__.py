"""Figures of a run that its base model or a factor adds: one module for each that has such, named by its `section`.

A module has ``KEY``, under which its metrics stand in ``summary.json``; ``metrics(run)``, which are those of a measured
run, or None; and ``lines(metrics)``, its rows in the table of a run, as (what, value). That of a factor has besides
``TITLE`` and ``described(info)``: the row on what was assumed, from ``Result.info``.
"""
