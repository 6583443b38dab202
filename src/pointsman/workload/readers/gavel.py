"""Gavel's `.trace` files, of 6, 7, 9, 10 and 12 tab-separated columns (`docs/formats/gavel.md`)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from pointsman.workload.readers.gavel_throughputs import PHYSICAL, SINGLE_GPU
from pointsman.workload.readers.sdk import (
    InputError,
    Quality,
    Rows,
    Source,
    TraceFormat,
    open_source,
    quoted,
    settle,
    text_lines,
)

_LAYOUTS: Final[dict[int, dict[str, int]]] = {
    6: {"steps": 3, "submit": 4, "gpus": 5},
    7: {"steps": 4, "submit": 5, "gpus": 6},
    9: {"steps": 4, "submit": 8, "gpus": 5},
    10: {"steps": 5, "submit": 9, "gpus": 6},
    12: {"steps": 5, "submit": 11, "gpus": 6, "duration": 10},
}
"""By number of columns: where the steps, the arrival, the GPUs (and, in Shockwave's files, the duration) stand."""
_JOB_TYPE: Final = r"^([A-Za-z][\w-]*)(?: \(batch size (\d+)\))?$"
_SCHEMA = {
    "job_type": pl.String(),
    "steps": pl.Float64(),
    "submit_s": pl.Float64(),
    "gpus": pl.Float64(),
    "duration_s": pl.Float64(),
}


def _matches(source: Source) -> bool:
    first = source.data[:65536].split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    cells = first.split("\t")
    return len(cells) in _LAYOUTS and _float(cells[_LAYOUTS[len(cells)]["steps"]]) is not None


def _read(source: Source, throughputs: str | Path | None = None) -> tuple[pl.DataFrame, Quality]:
    """`throughputs`: a Gavel throughput file (JSON), whose isolated V100 speeds replace the built-in ones."""
    lines = text_lines(source)
    width = lines[0].count("\t") + 1
    layout = _LAYOUTS.get(width)
    if layout is None:
        widths = ", ".join(map(str, _LAYOUTS))
        fix = f"the first row must have {widths} cells between tabs"
        raise InputError("not a Gavel trace", path=source.path, line=1, fix=fix)
    rows, begun, ragged = [], [], []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) == width:
            rows.append(_row(cells, layout))
            begun.append(number)
        elif line.strip():
            ragged.append(number)
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    speeds, note = _speeds(width, throughputs)
    jobs = _jobs(frame, speeds)
    notes = ["rows are numbered from 0 in file order; priority weights and SLOs are left out"]
    blank = sum(not line.strip() for line in lines)
    found = Rows(frame, begun, ragged, read={*frame.columns}, others={"blank": blank})
    return settle(source, jobs, rows=found, notes=notes if "duration" in layout else [*notes, note])


def _row(cells: list[str], layout: Mapping[str, int]) -> tuple[str | float | None, ...]:
    names = ("steps", "submit", "gpus", "duration")
    return (cells[0].strip(), *(_float(cells[layout[name]]) if name in layout else None for name in names))


def _float(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None


Speeds = Mapping[tuple[str, int], float]
"""Steps per second by job type and GPUs; the built-in one-GPU table has GPUs 0: *any number*."""


def _speeds(width: int, throughputs: str | Path | None) -> tuple[Speeds, str]:
    if throughputs is not None:
        return _file_speeds(open_source(throughputs)), f"run time = steps / V100 steps/s of {throughputs}"
    if width <= 7:
        return (
            {(name, 0): speed for name, speed in SINGLE_GPU.items()},
            "run time = steps / steps/s on one V100, whatever the GPU count, as these traces were generated",
        )
    return (
        {(name, gpus): speed for name, row in PHYSICAL.items() for gpus, speed in row.items()},
        "run time = steps / steps/s on that many V100s, as measured on Gavel's physical cluster",
    )


def _file_speeds(source: Source) -> Speeds:
    """Isolated V100 speeds of a Gavel throughput file: `{"v100": {"('ResNet-18 (batch size 16)', 1)": {"null": x}}}`.

    Raises:
        InputError: it is no such file.
    """
    import ast

    try:
        table = json.loads(source.text)["v100"]
        keyed = ((ast.literal_eval(key), entry["null"]) for key, entry in table.items())
        return {(str(name), int(gpus)): float(speed) for (name, gpus), speed in keyed if float(speed) > 0}
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError) as error:
        fix = "give a file like Gavel's simulation_throughputs.json"
        raise InputError(f"not a Gavel throughput file: {quoted(error)}", path=source.path, fix=fix) from None


def _whole_gpus() -> pl.Expr:
    """GPUs of a gang: Gavel's batch is one GPU's, the job table's is the gang's."""
    return pl.col("gpus").cast(pl.Int64, strict=False)


def _jobs(frame: pl.DataFrame, speeds: Speeds) -> pl.DataFrame:
    keys = zip(frame["job_type"].to_list(), frame["gpus"].to_list(), strict=True)
    speed = pl.Series([speeds.get((name, 0)) or speeds.get((name, gpus)) for name, gpus in keys], dtype=pl.Float64)
    derived = pl.col("steps") / pl.lit(speed)
    timed = pl.col("duration_s").is_not_null() | pl.lit(speed).is_not_null() | pl.col("steps").is_null()
    unknown = pl.when((pl.col("gpus") > 0) & ~timed)
    return frame.select(
        model=pl.col("job_type").str.extract(_JOB_TYPE, 1),
        batch_size=pl.col("job_type").str.extract(_JOB_TYPE, 2).cast(pl.Int64, strict=False) * _whole_gpus(),
        submit_s="submit_s",
        gpus="gpus",
        duration_s=pl.coalesce("duration_s", derived),
        dropped=unknown.then(pl.lit("no throughput known for its job type and GPUs")),
    )


FORMAT = TraceFormat("gavel", "Gavel (and Shockwave) .trace", _matches, _read, frozenset({"throughputs"}))
