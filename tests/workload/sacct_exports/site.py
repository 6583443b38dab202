"""What happened at a site: its jobs, their runs, and the records that Slurm's database keeps of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

TYPES: Final = {
    "a100": "a100", "A100": "a100", "nvidia_a100-sxm4-80gb": "a100",
    "h100": "h100", "nvidia_h100_80gb_hbm3": "h100",
    "v100": "v100", "tesla_v100-sxm2-32gb": "v100",
    "l40s": "l40s", "nvidia_l40s": "l40s",
    "nvidia_geforce_rtx_2080_ti": "rtx2080ti", "a100_7g.80gb": "a100",
}  # fmt: skip
"""Types of whole GPUs as sites and NVML write them, and what they are. A slice of all seven sevenths is a whole GPU."""
SLICES: Final = {
    "a100_1g.5gb": ("a100", 1), "a100_2g.10gb": ("a100", 2), "a100_3g.20gb": ("a100", 3),
    "nvidia_a100-sxm4-80gb_4g.40gb": ("a100", 4), "nvidia_h100_80gb_hbm3_3g.40gb": ("h100", 3), "1g.10gb": (None, 1),
}  # fmt: skip
"""MIG slices: the GPU that they are a part of, where the name says it, and their compute slices of seven."""
FREE_TEXT: Final = (
    "JobName", "Comment", "SubmitLine", "WorkDir", "AdminComment", "SystemComment", "Extra", "Constraints",
)  # fmt: skip
"""Fields that hold what users and administrators type."""


class Gres(NamedTuple):
    """Some generic resources of one kind and type."""

    count: int
    gpu_type: str = ""
    """A key of `TYPES` or `SLICES`; empty: not said."""
    kind: str = "gpu"

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.gpu_type}" if self.gpu_type else self.kind


@dataclass(frozen=True)
class Part:
    """A job's resources; a heterogeneous job has several."""

    gres: tuple[Gres, ...]
    nodes: int = 1

    @property
    def node_list(self) -> str:
        return "gpu01" if self.nodes == 1 else f"gpu[01-{self.nodes:02}]"


@dataclass(frozen=True)
class Run:
    """One submission or requeue of a job, and what came of it; times in s since 1970."""

    submit: int
    state: str
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    elapsed: int = 0
    ran: bool = False
    """Whether nodes were allocated; older Slurm gives what was cancelled while it waited a start, too."""


@dataclass(frozen=True)
class Job:
    """A job of one part or several, with all its runs."""

    number: int
    """`JobIDRaw` of the first part; the others follow."""
    user: str
    parts: tuple[Part, ...]
    runs: tuple[Run, ...]
    cluster: str = "alpha"
    account: str = "lab"
    partition: str = "gpu"
    requested: str = ""
    """All permitted partitions, as long as the job waits; empty: only `partition`."""
    qos: str = "normal"
    limit_min: int | None = 1440
    array: int | None = None
    task: int | None = None
    waiting_tasks: str = ""
    """The tasks of an array that have not started: they are one record."""
    texts: dict[str, str] = field(default_factory=dict)
    steps: tuple[str, ...] = ()

    @property
    def ran(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.ran)


@dataclass(frozen=True)
class Site:
    """Jobs, and how Slurm is configured."""

    jobs: tuple[Job, ...]
    tracked: str = "both"
    """Which GPUs `AccountingStorageTRES` lists: `typed`, `untyped` or `both`."""
    requests_typed: bool = True
    """Whether `ReqTRES` names types, too."""
    twice: frozenset[int] = frozenset()
    """Jobs, by their place, that two exports put together both hold."""


class Record(NamedTuple):
    """A row of `sacct -D`: one run of one part of a job, or a step of it."""

    job: Job
    run: Run
    part: int = 0
    step: str = ""

    @property
    def number(self) -> int:
        return self.job.number + self.part

    @property
    def is_het(self) -> bool:
        return len(self.job.parts) > 1


def records(site: Site, steps: bool = True) -> list[Record]:
    """All records, in the order of submission, and once more those that are there twice."""
    again = [job for place, job in enumerate(site.jobs) if place in site.twice]
    return [record for jobs in (site.jobs, again) for job in jobs for record in _of_job(job, steps)]


def _of_job(job: Job, steps: bool) -> Iterator[Record]:
    for run in job.runs:
        for part in range(len(job.parts)):
            yield Record(job, run, part)
            if steps and run.ran:
                yield from (Record(job, run, part, step) for step in job.steps)
