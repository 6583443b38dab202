"""Any table whose columns are named (``--columns submit_s=Submit,gpus=AllocTRES``;
``docs/guides/bring-your-own-log.md``).
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import polars as pl

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.types import DEADLINE, JOB_STEP
from pointsman.workload.columns import LOGGED, SCHEMA, SHAPE, TIME_UNITS_S
from pointsman.workload.provenance import Quality
from pointsman.workload.readers.any_table import read_table
from pointsman.workload.readers.cells_of_columns import GAP, cells_of
from pointsman.workload.readers.day_month import Order
from pointsman.workload.readers.sacct_fields import canonical
from pointsman.workload.readers.source import Source
from pointsman.workload.readers.step_ids import steps_among
from pointsman.workload.readers.trace_cleaning import settle

Columns = Mapping[str, str]
"""From a column of the job table, or `gap_s`, to a column of the file."""
Steps = Literal["drop", "keep"]
STEPS: Final = ("drop", "keep")

IDS: Final = ("JobID", "JobIDRaw")
"""Columns of sacct's exports that tell steps from jobs, whether or not they are named as ids."""

NAMES: Final = (*SCHEMA, GAP)
"""What `--columns` can name."""


def parse_columns(texts: Sequence[str]) -> dict[str, str]:
    """What ``--columns`` says: ``submit_s=Submit,gpus=AllocTRES``, perhaps in several.

    Raises:
        UsageError: a part is no NAME=COLUMN, names no column of ours or one twice, or a required one is missing.
    """
    found: dict[str, str] = {}
    for part in ",".join(texts).split(","):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs):
            raise UsageError(f"--columns {part!r:.60} is not NAME=COLUMN (as in submit_s=Submit)")
        if ours in found:
            raise UsageError(f"--columns: {ours} is named twice, {found[ours]!r:.60} and {theirs!r:.60}")
        found[ours] = theirs
    check_columns(found)
    return found


def check_columns(found: Columns) -> None:
    """That all are columns of ours, and no required one is missing.

    Raises:
        UsageError: they are not, or one is.
    """
    for ours, theirs in found.items():
        if ours not in NAMES:
            hint, kept = did_you_mean(ours, NAMES), shlex.quote(f"{ours}={theirs}")
            raise UsageError(
                f"--columns: {ours!r:.60} is no column of ours ({hint}); --keep-columns {kept:.120} keeps your own"
            )
    if {"submit_s", GAP} <= found.keys():
        raise UsageError(
            f"--columns names both submit_s and {GAP}: a table has times of submission or the gaps between"
        )
    missing = ["submit_s (or gap_s)"] * (not {"submit_s", GAP} & found.keys())
    missing += ["gpus (or nodes_requested and gpus_per_node)"] * (
        "gpus" not in found and not set(SHAPE) <= found.keys()
    )
    missing += ["duration_s (or start_s and end_s)"] * ("duration_s" not in found and not set(LOGGED) <= found.keys())
    if missing:
        raise UsageError(
            f"--columns names no {missing[0]}: it replaces the reader of a known format, so it names every column "
            "to read (submit_s=Submit,gpus=AllocTRES,duration_s=ElapsedRaw,queue=Account)"
        )


def read_named(
    source: Source,
    columns: Columns,
    time_unit: str | None = None,
    date_order: Order | None = None,
    steps: Steps | None = None,
) -> tuple[pl.DataFrame, Quality]:
    """The job table of a table of any kind (`any_table`), by the columns named.

    Args:
        source: the file.
        columns: which they are.
        time_unit: of times and durations that are bare numbers.
        date_order: of day and month, where the file does not tell it.
        steps: what becomes of rows that are steps of a job.

    Raises:
        InputError: a column is missing, ids are those of steps, the order of day and month is needed, or no job is
            left.
    """
    keep = source.keep
    table = read_table(
        source, [*columns.values(), *keep.values()], counted=[columns[name] for name in ("gpus",) if name in columns]
    )
    rows = table.rows
    rows.read.update(columns.values())
    unit_s = None if time_unit is None else TIME_UNITS_S[time_unit]
    timed = {DEADLINE: keep[DEADLINE]} if DEADLINE in keep and GAP not in columns else {}
    found = cells_of(rows.frame, {**columns, **timed}, unit_s=unit_s, order=date_order, path=source.path)
    ids = [rows.frame[name] for name in rows.frame.columns if name == columns.get("job_id") or canonical(name) in IDS]
    jobs = found.jobs.with_columns(dropped=_why_dropped(source, found.jobs, ids, table.no_objects, steps))
    notes = [f"columns as told: {', '.join(f'{ours} = {theirs}' for ours, theirs in columns.items())}", *found.notes]
    zone = "as written; UTC where a date names none" if found.dated else None
    return settle(source, jobs, rows=rows, notes=notes, zone=zone)


def _why_dropped(
    source: Source, jobs: pl.DataFrame, ids: Sequence[pl.Series], no_objects: pl.Series | None, steps: Steps | None
) -> pl.Series:
    silent = pl.repeat(None, jobs.height, dtype=pl.String, eager=True)
    reasons = jobs["dropped"] if "dropped" in jobs.columns else silent
    for column in ids if steps != "keep" else ():
        reasons = _reason_where(steps_among(source, column, refuse=steps is None), JOB_STEP, reasons)
    return reasons if no_objects is None else _reason_where(no_objects, "not a JSON object", reasons)


def _reason_where(where: pl.Series, reason: str, others: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"where": where, "others": others})
    return frame.select(pl.when("where").then(pl.lit(reason)).otherwise("others")).to_series()
