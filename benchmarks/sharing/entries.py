"""The policies as they are run: all pay the same for a restart, all may scatter a gang."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pointsman.engine.setup.overheads import Overheads
from pointsman.policies.registry import get_policy

RESTART_S = 30.0
RESTARTS = Overheads(restore_s=RESTART_S)
"""Only who is started again, or resized, pays: nothing is charged for first starts and stops."""


@dataclass(frozen=True)
class Entry:
    """A policy as it is run."""

    label: str
    policy: str
    params: Mapping[str, Any] = field(default_factory=dict)
    placement: str | None = None
    estimate: str | None = None

    @property
    def knows(self) -> str:
        """Of durations."""
        needs = get_policy(self.policy).needs
        return f"estimate {self.estimate}" if self.estimate else needs

    @property
    def adapts(self) -> bool:
        """Whether jobs can be faster than recorded under it, so that no lower bound is known."""
        return self.policy == "pollux"

    def told(self, sigma: float) -> "Entry":
        """The same with lognormal errors in what it is told."""
        return replace(self, label=f"{self.label}, σ = {sigma:g}", estimate=f"lognormal:{sigma:g}")


def _placed(name: str) -> tuple[Entry, Entry]:
    """A classical policy, placed as those that share are, and as it is by default."""
    return Entry(name, name, placement="tightest"), Entry(f"{name}, consolidated", name)


BSBF = Entry("sjf-bsbf", "sjf-bsbf")
JOINT = Entry("sjf-bsbf, joint", "sjf-bsbf", {"gate": "joint"})
CONSOLIDATED = Entry("sjf-bsbf-consolidated", "sjf-bsbf-consolidated")
CONSOLIDATED_JOINT = Entry("sjf-bsbf-consolidated, joint", "sjf-bsbf-consolidated", {"gate": "joint"})
FFS = Entry("sjf-ffs", "sjf-ffs")
PACKING = Entry("gandiva-packing", "gandiva-packing")
POLLUX = Entry("pollux", "pollux")
GANDIVA = Entry("gandiva", "gandiva")
SLOW_GANDIVA = Entry("gandiva, slices of 10 min", "gandiva", {"slice_s": 600.0})
SLOW_PACKING = Entry("gandiva-packing, slices of 10 min", "gandiva-packing", {"slice_s": 600.0})
FIFO, SJF, BACKFILL, SRTF, TIRESIAS = (_placed(name) for name in ("fifo", "sjf", "sjf-backfill", "srtf", "tiresias"))

SIGMAS = (0.5, 1.0)
ERRORS = tuple(entry.told(sigma) for entry in (BSBF, JOINT, FFS, BACKFILL[0], SRTF[0]) for sigma in SIGMAS)

ALL = (
    BSBF, JOINT, CONSOLIDATED, CONSOLIDATED_JOINT, FFS, PACKING, SLOW_PACKING, POLLUX, *TIRESIAS, GANDIVA, SLOW_GANDIVA,
    *SRTF, *BACKFILL, *SJF, *FIFO, *ERRORS,
)  # fmt: skip
