"""Reading the directory of a run or of a comparison (``docs/formats/run-directory.md``)."""

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import BaseModel, Field

from pointsman.errors import InputError, UsageError
from pointsman.inputs.binary_table import read_foreign_table
from pointsman.inputs.config_file import read_document
from pointsman.report.manifest import read_manifest
from pointsman.report.result import Result
from pointsman.report.table_columns import missing_of_options, places_fault, table_fault

ADDED = ("job_id", "node_name")
"""Columns of ``events.parquet`` for people; a reader of the directory takes them off again."""
AGAIN = "price"
"""The manifest's entry with the runs made again for the price of a comparison."""
CONFIG = "config.resolved.yaml"
DIGESTS = "output_sha256"
"""The manifest's entry with the digest of each data file."""


class _Spec(BaseModel):
    window: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | None = None


class _Config(BaseModel):
    spec: _Spec = _Spec()
    """Not there in a run of a comparison, whose settings are those of its policy."""


def is_whole_run(directory: Path) -> bool:
    """Whether a run is there with all of its files, as they were written."""
    try:
        written: Mapping[str, str] = read_manifest(directory, "run")[DIGESTS]
        return all(hashlib.sha256((directory / name).read_bytes()).hexdigest() == written[name] for name in written)
    except (InputError, OSError, KeyError):
        return False


def read_run(directory: str | Path) -> Result:
    """The result that `write_run` wrote.

    Raises:
        InputError: it is no run directory, or part of it is missing or damaged.
    """
    place = Path(directory)
    manifest = read_manifest(place, "run")
    written: Mapping[str, str] = manifest.get(DIGESTS, {})
    jobs, series = (_read(place / name, written) for name in ("jobs.parquet", "series.parquet"))
    events = _read(place / "events.parquet", written).drop(ADDED) if (place / "events.parquet").exists() else None
    if fault := missing_of_options(manifest["info"], jobs):
        raise InputError(fault, path=place / "jobs.parquet", fix="the run directory is damaged; run again")
    if events is not None and (fault := places_fault(events, jobs.height, manifest["info"]["nodes"])):
        raise InputError(fault, path=place / "events.parquet", fix="run again")
    speeds = _read(place / "speeds.parquet", written).drop("job_id") if (place / "speeds.parquet").exists() else None
    return Result(jobs, events, series, manifest["info"], speeds)


def read_runs(directory: str | Path) -> list[Result]:
    """The run in a directory, or all those of a comparison, in its order: the baseline first.

    Raises:
        InputError: it is neither, or part of it is missing or damaged.
    """
    place = Path(directory)
    manifest = read_manifest(place, "run", "comparison")
    if manifest["kind"] == "run":
        return [read_run(place)]
    return [read_run(place / "runs" / name) for name in manifest["runs"]]


def read_window(directory: Path) -> tuple[float, float] | None:
    """The window (s) of the jobs that a run, a comparison or a grid counts; None: all, or its settings are not there.

    Raises:
        InputError: the settings are damaged.
    """
    path = directory / CONFIG
    try:
        return read_document(path, _Config).content.spec.window if path.is_file() else None
    except UsageError as error:
        raise InputError(str(error), fix="give --window, or run again") from None


def read_repeated(directory: str | Path) -> dict[float, list[Result]]:
    """The runs that a comparison has made again for its price, by seconds between checkpoints; other directories: none.

    Raises:
        InputError: part of one is missing or damaged.
    """
    place = Path(directory)
    found: dict[float, list[Result]] = {}
    for name, interval_s in read_manifest(place, "run", "comparison").get(AGAIN, {}).items():
        found.setdefault(float(interval_s), []).append(read_run(place / name))
    return found


def _read(path: Path, written: Mapping[str, str]) -> pl.DataFrame:
    """The table at `path`, unchanged since the run wrote it; a run of an older version tells no digests."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"part of the run cannot be read ({error.strerror})", path=path, fix="run again") from None
    digest = written.get(path.name)
    if digest is None:
        table = read_foreign_table(data, path=str(path))
        if fault := table_fault(path.name, table):
            raise InputError(fault, path=path, fix="run again")
        return table
    if hashlib.sha256(data).hexdigest() != digest:
        raise InputError("this file is damaged or was changed after the run wrote it", path=path, fix="run again")
    return pl.read_parquet(io.BytesIO(data))
