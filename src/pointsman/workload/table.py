"""The job table: its columns, where it came from, and how good the log was."""

from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

SCHEMA: Final[dict[str, pl.DataType]] = {
    "job_id": pl.String(),
    "user": pl.String(),
    "queue": pl.String(),
    "partition": pl.String(),
    "model": pl.String(),
    "gpu_type": pl.String(),
    "batch_size": pl.Int64(),
    "fraction": pl.Float64(),
    "time_limit_s": pl.Float64(),
    "priority": pl.Int64(),
    "status": pl.String(),
    "submit_s": pl.Float64(),
    "gpus": pl.Int64(),
    "duration_s": pl.Float64(),
}
"""Every column of the job table, in order. `submit_s` is in seconds from any origin ≥ 0; `duration_s` is the run
time on the GPUs asked for; `fraction` is the part of one GPU that a sharing job asks for, in (0, 1]."""

REQUIRED: Final = ("submit_s", "gpus", "duration_s")
"""Columns that a native file must have; the others are null where a file is silent (`priority`: 0)."""

ALIASES: Final[dict[str, str]] = {"vc": "queue", "cluster": "queue", "account": "queue", "tenant": "queue"}
"""Words that logs and papers use for our columns."""

MAX_DURATION_S: Final = 1e9
"""Longest job accepted (31.7 years): a million such jobs still add up inside int64 milliseconds."""

MAX_SUBMIT_S: Final = 1e11
"""Latest submit time accepted: an epoch in seconds passes, one in milliseconds is caught."""

_SHARING: Final = "jobs that ask for a part of a GPU"

MAX_GPUS: Final = 1 << 20
"""Widest gang accepted, so that its GPU-milliseconds fit in an int64."""


@dataclass(frozen=True)
class Quality:
    """What reading a log dropped, changed and assumed. `rows_read = kept + Σ dropped`."""

    rows_read: int
    kept: int
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows left out, by reason."""
    clamped: dict[str, int] = field(default_factory=dict)
    """Rows kept with a changed value, by what was changed."""
    notes: tuple[str, ...] = ()
    """Assumptions (time zone, sharing, …), one sentence each."""

    def render(self) -> str:
        """The report as text, one fact a line."""
        lines = [f"rows read: {self.rows_read:,}; jobs kept: {self.kept:,}"]
        lines += [f"dropped {n:,}: {reason}" for reason, n in self.dropped.items()]
        lines += [f"changed {n:,}: {what}" for what, n in self.clamped.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def as_dict(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "rows_read": self.rows_read,
            "kept": self.kept,
            "dropped": dict(self.dropped),
            "clamped": dict(self.clamped),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Provenance:
    """Where a workload came from."""

    source: str
    """The file as given, `-` for standard input, or what made the workload."""
    sha256: str
    """Of the bytes as stored (compressed, if they were); empty for a workload that was no file."""
    format: str
    command: str = ""
    """What read or made it."""
    origin: "Provenance | None" = None
    """Of a table that was converted or generated: where its jobs came from."""
    only: str = ""
    """Which of its jobs, where not all were asked for: `vc=cluster04`."""

    def __str__(self) -> str:
        """In a few words; the format where the source does not say it."""
        this = self.source if self.format in self.source else f"{self.source} (format {self.format})"
        this += f", only {self.only}" if self.only else ""
        return this if self.origin is None else f"{this}, from {self.origin}"

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; `origin` and `only` where there are any."""
        own = {"source": self.source, "sha256": self.sha256, "format": self.format, "command": self.command}
        own |= {"only": self.only} if self.only else {}
        return own if self.origin is None else own | {"origin": self.origin.as_dict()}


@dataclass(frozen=True)
class Workload:
    """A job table with its quality report and provenance."""

    jobs: pl.DataFrame
    quality: Quality
    provenance: Provenance

    def __post_init__(self) -> None:
        """A job's `fraction` is kept, and counts only where GPUs are shared; whoever reads the report must know."""
        told = tuple(note for note in self.quality.notes if not note.startswith(_SHARING))
        parts = int(((self.jobs["fraction"] < 1) & (self.jobs["gpus"] == 1)).sum())
        note = (f"{_SHARING}: {parts:,}; each takes a whole one unless GPUs are shared",) if parts else ()
        object.__setattr__(self, "quality", replace(self.quality, notes=told + note))

    @classmethod
    def of(cls, jobs: pl.DataFrame, *, source: str = "memory", format: str = "frame", command: str = "") -> "Workload":
        """A workload from a frame with at least `submit_s`, `gpus` and `duration_s`.

        Raises:
            InputError: the frame breaks a rule that a native file must keep.
        """
        from pointsman.workload.strict import validated

        table, quality = validated(jobs, path=source)
        return cls(table, quality, Provenance(source, "", format, command))

    def with_jobs(self, jobs: pl.DataFrame, *, reason: str) -> "Workload":
        """The same workload with fewer jobs, the loss counted in the quality report under `reason`."""
        lost = self.jobs.height - jobs.height
        dropped = self.quality.dropped | ({reason: self.quality.dropped.get(reason, 0) + lost} if lost else {})
        return replace(self, jobs=jobs, quality=replace(self.quality, kept=jobs.height, dropped=dropped))


def complete(jobs: pl.DataFrame) -> pl.DataFrame:
    """`jobs` with every column of the schema, in order, and nothing else; stably sorted by `submit_s`.

    Columns that `jobs` lacks are null, but `priority` is 0 and `job_id` the row.
    """
    if "job_id" not in jobs.columns:
        jobs = jobs.with_columns(pl.int_range(pl.len()).cast(pl.String).alias("job_id"))
    absent = [pl.lit(None, dtype).alias(name) for name, dtype in SCHEMA.items() if name not in jobs.columns]
    table = jobs.with_columns(absent).select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    table = table.with_columns(pl.col("priority").fill_null(0))
    return table if table["submit_s"].is_sorted() else table.sort("submit_s", maintain_order=True)
