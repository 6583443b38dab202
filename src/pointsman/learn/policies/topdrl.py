"""TopDRL: a multi-branch CNN picks a job, the closest free GPUs are its own."""

from typing import ClassVar

from pointsman.learn.policies.learned import LearnedPicker


class TopDrl(LearnedPicker):
    """A trained network picks which waiting job starts, or that none does; it gets the free GPUs closest together."""

    name: ClassVar[str] = "topdrl"
    source: ClassVar[str] = "Ayadi et al., Topology-aware GPU job scheduling with DRL and heuristics, JPDC 2025"
