"""Steps of Slurm's jobs in a table that was not read as `sacct`'s: their GPUs are those of the job."""

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import counted
from pointsman.workload.readers.slurm_cells import STEP
from pointsman.workload.readers.source import Source


def steps_among(source: Source, ids: pl.Series, *, refuse: bool) -> pl.Series:
    """Which ids are those of steps: `801.batch`, `801.extern`, `801.0`.

    Ids that all end in `.0`, and have no job beside them, are numbers that passed through a spreadsheet.

    Raises:
        InputError: some are, and `refuse`.
    """
    parts = ids.str.extract_groups(STEP).struct.unnest()
    found = parts["step"].is_not_null()
    if not found.any() or _are_numbers(ids, parts):
        return pl.repeat(False, len(ids), dtype=pl.Boolean, eager=True)
    if refuse:
        first = ids.filter(found)[0]
        many = counted(int(found.sum()), "row")
        cause = f"the id {first!r:.40} is that of a step of a job, which has the job's GPUs: {many}"
        fix = "--steps drop leaves such rows out; --steps keep takes each for a job of its own"
        raise InputError(cause, path=source.path, fix=fix)
    return found


def _are_numbers(ids: pl.Series, parts: pl.DataFrame) -> bool:
    steps = parts.drop_nulls("step")
    beside = steps["job"].is_in(ids.drop_nulls().unique().implode()).any()
    return bool((steps["step"] == "0").all()) and not beside and steps["job"].is_unique().all()
