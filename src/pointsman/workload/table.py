"""A workload: a job table, where it came from and how good its log was."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any, Final

import polars as pl

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.durations import duration
from pointsman.inputs.messages import counted
from pointsman.types import MAX_SHARING
from pointsman.workload.columns import OF_SCHEDULE, SCHEMA, columns_named
from pointsman.workload.frames import Table, as_pandas, frame_of, in_seconds, renaming
from pointsman.workload.provenance import Place, Provenance, Quality
from pointsman.workload.rules.kept_columns import Keep, keep_of, kept_columns, under_their_names
from pointsman.workload.rules.native_table import validated

_SHARING: Final = "jobs that ask for a part of a GPU"


def _how_to_share(smallest: float) -> str:
    """What makes GPUs hold as many of the smallest part as fit, and which policies do it."""
    fit = min(max(int(1 / smallest), 2), MAX_SHARING)
    return (
        f"each takes a whole one unless GPUs are shared: --gpu-sharing {fit} does that under policies that neither "
        "preempt nor reserve, such as fifo, sjf and fifo-backfill; --ignore fraction takes them for jobs on whole GPUs"
    )


@dataclass(frozen=True, repr=False)
class Workload:
    """A job table with its quality report and provenance."""

    jobs: pl.DataFrame
    quality: Quality
    provenance: Provenance

    def __post_init__(self) -> None:
        """A job's `fraction` is kept, and counts only where GPUs are shared; readers of the report must know."""
        told = tuple(note for note in self.quality.notes if not note.startswith(_SHARING))
        parts = self.jobs["fraction"].filter((self.jobs["fraction"] < 1) & (self.jobs["gpus"] == 1))
        note = (f"{_SHARING}: {len(parts):,}; {_how_to_share(float(parts.min()))}",) if len(parts) else ()  # ty: ignore
        object.__setattr__(self, "quality", replace(self.quality, notes=told + note))

    def __len__(self) -> int:
        """Jobs."""
        return self.jobs.height

    __iter__ = None
    """It is no sequence of jobs; its columns have names."""

    def __getitem__(self, column: str) -> pl.Series:
        """A column of the job table.

        Raises:
            UsageError: there is none of this name.
        """
        if column not in self.jobs.columns:
            known = did_you_mean(str(column), self.jobs.columns)
            raise UsageError(f"the job table has no column {column!r:.60} ({known})")
        return self.jobs[column]

    @property
    def kept_columns(self) -> tuple[str, ...]:
        """Columns of the log's own that were kept."""
        return kept_columns(self.jobs.columns)

    def head(self, many: int = 5) -> pl.DataFrame:
        """The first jobs."""
        return self.jobs.head(many)

    def __repr__(self) -> str:
        """``Workload(2,000 jobs of 1 to 64 GPUs, submitted over 8.1 d, from jobs.csv)``."""
        told = counted(len(self), "job")
        if len(self):
            least, most = self["gpus"].min(), self["gpus"].max()
            gpus = counted(int(most), "GPU") if least == most else f"{least:,} to {most:,} GPUs"  # ty: ignore
            told += f" of {gpus}, submitted over {duration(self['submit_s'].max() - self['submit_s'].min())}"  # ty: ignore
        return f"Workload({told}, from {self.provenance.source})"

    def _repr_html_(self) -> str:
        """For notebooks: the same, and the first jobs, in columns that say something."""
        silent = [column for column in self.jobs.columns if self[column].null_count() == len(self)]
        return f"<p>{escape(repr(self))}</p>{self.head().drop(silent)._repr_html_()}"

    @classmethod
    def of(
        cls,
        jobs: Table,
        *,
        columns: Iterable[str] | Keep = (),
        source: str = "memory",
        format: str = "frame",
        command: str = "",
    ) -> "Workload":
        """A workload from a table with at least `submit_s`, `gpus` and `duration_s`.

        Args:
            jobs: a DataFrame of pandas or polars, an Arrow table, anything else with the Arrow PyCapsule interface, or
                a mapping from names to columns. Columns are those of native job tables. Times are in seconds;
                `submit_s`, `start_s` and `end_s` may also be dates, and durations time spans.
            columns: columns of your own to keep, which policies and tables see (``docs/guides/own-columns.md``):
                ``["deadline_s", "tenant"]``, or a mapping from new names to those of the table.
            source: what messages and reports call it.
            format: what it was, for the provenance.
            command: what made it, for the provenance.

        Raises:
            InputError: the table breaks a rule that a native file must keep, or lacks a column to keep.
            UsageError: it is no table, or a column cannot be kept by its name.
        """
        keep = keep_of(columns)
        frame, notes = in_seconds(under_their_names(frame_of(jobs, path=source), keep, path=source), path=source)
        own = {name: name for name in keep}
        table, quality = validated(frame, path=source, renamed=partial(renaming, jobs), keep=own)
        return cls(table, replace(quality, notes=notes + quality.notes), Provenance(source, "", format, command))

    def to_pandas(self) -> Any:
        """The job table as a pandas DataFrame; pandas must be installed, pyarrow need not be."""
        return as_pandas(self.jobs)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The job table for other libraries: ``pyarrow.table(workload)``, ``polars.DataFrame(workload)``."""
        return self.jobs.__arrow_c_stream__(requested_schema)

    def without(self, columns: Sequence[str]) -> "Workload":
        """Empties these columns, as if the log did not have them; the quality report says so. `shape` is both
        columns of it.
        """
        columns = columns_named(columns)
        silent = [pl.lit(0 if name == "priority" else None, SCHEMA[name]).alias(name) for name in columns]
        note = f"columns ignored as told: {', '.join(columns)}"
        quality = replace(self.quality, notes=(*self.quality.notes, note))
        return replace(self, jobs=self.jobs.with_columns(silent), quality=quality)

    @property
    def is_logged(self) -> bool:
        """Whether the log says of any job when it started."""
        return self.jobs["start_s"].null_count() < self.jobs.height

    def unlogged(self, why: str) -> "Workload":
        """Leaves out the schedule that the log records; where there was one, a note says why."""
        if not self.is_logged:
            return self
        note = f"the log's own starts and ends are left out: {why}"
        silent = [pl.lit(None, SCHEMA[name]).alias(name) for name in OF_SCHEDULE]
        quality = replace(self.quality, notes=(*self.quality.notes, note))
        return replace(self, jobs=self.jobs.with_columns(silent), quality=quality)

    def with_jobs(self, jobs: pl.DataFrame, *, reason: str, place: Place | None = None) -> "Workload":
        """Replaces the jobs by fewer; the quality report counts the loss under `reason`, at `place`."""
        lost, was = self.jobs.height - jobs.height, self.quality
        dropped = was.dropped | ({reason: was.dropped.get(reason, 0) + lost} if lost else {})
        places = was.places | ({reason: place} if place else {})
        return replace(self, jobs=jobs, quality=replace(was, kept=jobs.height, dropped=dropped, places=places))
