"""Writes the timeline of a run, whole or not at all."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import polars as pl

from pointsman.engine.run.result import RunData
from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import check_output_file, hidden
from pointsman.report.timeline.spells import spells_of
from pointsman.report.timeline.trace_events import trace_events
from pointsman.report.timeline.tracks import tracks_of
from pointsman.report.units import policy_name
from pointsman.version import __version__

AT_ONCE: Final = 1 << 16
"""Entries that are text in memory at one time."""
NULLS: Final = r',"\w+":null'
"""A member of an object without a value; no text looks like that, for a quotation mark inside one is escaped."""


def check_timeline(path: Path, *, force: bool) -> None:
    """That a timeline can be written there.

    Raises:
        UsageError, RunError: it cannot, or the name says no format.
    """
    if not path.name.endswith((".json", ".json.gz")):
        raise UsageError(
            f"{path}: a timeline is a .json or .json.gz file: name it {path.name.partition('.')[0]}.json.gz"
        )
    check_output_file(path, force=force)


def write_timeline(path: Path, result: RunData, *, force: bool = False) -> None:
    """Writes the Trace Event format; compressed if the name ends so. The same run gives the same bytes.

    Source: Trace Event Format, as docs/guides/timelines.md uses it.

    Raises:
        UsageError: the run has no plan log, or `path` cannot be written or exists and `force` is not given.
        RunError: it cannot be written; nothing is left of it.
    """
    check_timeline(path, force=force)
    spells = spells_of(result)
    partial = hidden(path, "partial")
    try:
        with partial.open("wb") as file, _compress(file, path) as target:
            for text in _texts(result, trace_events(result, spells, tracks_of(result, spells))):
                target.write(text.encode())
        partial.replace(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)


def _compress(file: IO[bytes], path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix != ".gz":
        return file
    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)  # no name and no time, for the same bytes


def _texts(result: RunData, events: Iterator[pl.DataFrame]) -> Iterator[str]:
    info = result.info
    told = {"policy": policy_name(info), "seed": info.get("seed"), "cluster": info.get("cluster")}
    about = {"producer": f"pointsman {__version__}", **told}
    yield f'{{"displayTimeUnit":"ms","otherData":{json.dumps(about)},"traceEvents":[\n'
    comma = ""
    for frame in events:
        for some in frame.iter_slices(AT_ONCE):
            lines = some.select(pl.struct(pl.all()).struct.json_encode().str.replace_all(NULLS, "")).to_series()
            yield comma + ",\n".join(lines)
            comma = ",\n"
    yield "\n]}\n"
