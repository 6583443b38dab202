"""The cells of the page: jobs on a cluster, and where the slowdown of pairs is from."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

PAPERS_GPU: Final = "rtx2080ti"
HOURS: Final = {30: 1.5, 240: 8.0, 480: 8.0}
"""Of submits, by the number of jobs."""
LOG_JOBS: Final = 20_000
LOG_NAMES: Final = ("ITP", "Philly")
OTHER: Final = ", oracle table"
"""Gavel published two tables of pairs. We ship the one of its simulations; the other is called its oracle."""


@dataclass(frozen=True)
class Cell:
    """What decides a run but for its policy and seed."""

    workload: str
    submitted: int
    """Jobs."""
    gpu: str
    slowdown: str
    """The GPU whose measured pairs are used, with `OTHER` those of Gavel's other table; or one number for all pairs."""

    @property
    def is_log(self) -> bool:
        """Whether its jobs are those of a log."""
        return self.workload in LOG_NAMES

    @property
    def where(self) -> dict[str, Any]:
        """Its rows of the data file."""
        return asdict(self)

    @property
    def name(self) -> str:
        """As tables call it."""
        if self.is_log:
            return self.workload
        return WITHOUT if self.workload == WITHOUT else f"{self.submitted} jobs"


MIX, WITHOUT = "Pollux's jobs", "without ImageNet"
PAPER: Final = tuple(Cell(MIX, jobs, PAPERS_GPU, "P100") for jobs in HOURS)
EQUAL: Final = Cell(WITHOUT, 240, PAPERS_GPU, "P100")
"""As much work as 240 jobs with it, but no job of hours on half of the cluster: load 1.85."""
BELIEVED: Final = (*PAPER, EQUAL)
OTHER_PAIRS: Final = tuple(replace(cell, slowdown="V100") for cell in BELIEVED)
P100S: Final = tuple(replace(cell, gpu="p100") for cell in BELIEVED)
V100S: Final = tuple(replace(cell, gpu="v100", slowdown="V100") for cell in BELIEVED)
MAPPINGS: Final = {
    "RTX 2080 Ti, 11 GiB, pairs of P100": BELIEVED,
    "RTX 2080 Ti, 11 GiB, pairs of V100": OTHER_PAIRS,
    "P100, 16 GiB": P100S,
    "V100, 32 GiB": V100S,
}
"""What the paper's GPU may be taken for, the likeliest first."""

LOGS: Final = tuple(Cell(name, LOG_JOBS, "v100", "V100") for name in LOG_NAMES)
LESS_MEMORY: Final = tuple(replace(cell, gpu="v100m16") for cell in LOGS)
MAIN: Final = (*BELIEVED, *LOGS)
BY_OTHER_TABLE: Final = tuple(replace(cell, slowdown=cell.slowdown + OTHER) for cell in MAIN)
BELIEVED_OTHER, LOGS_OTHER = BY_OTHER_TABLE[: len(BELIEVED)], BY_OTHER_TABLE[len(BELIEVED) :]
CONSTANTS: Final = ("1", "1.1", "1.2", "1.35", "1.5", "1.75", "2", "2.5")
SWEPT: Final = (PAPER[1], EQUAL, *LOGS)
