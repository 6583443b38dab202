"""What goes into the oracle and what comes out."""

from dataclasses import dataclass

Gpu = tuple[int, int]
"""(node index, GPU index on that node)."""

Place = frozenset[Gpu]

LogEntry = tuple[int, str, int, tuple[tuple[int, int], ...]]
"""(time_ms, 'START' or 'PREEMPT', row, ((node, bit mask of its GPUs), ...) sorted by node)."""


@dataclass(frozen=True)
class Node:
    gpus: int
    rack: int = 0
    pod: int = 0
    gpu_type: str = ""
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """`estimate_ms` None means the truth: the policy is told `work_ms`."""

    submit_ms: int
    gpus: int
    work_ms: int
    estimate_ms: int | None = None
    priority: int = 0
    queue: str = ""
    user: str = ""
    partition: str = ""
    gpu_type: str = ""
    model: str = ""
    samples: int | None = None
    """On each of its GPUs; None: its model's."""
    milli: int = 1000
    """Of a GPU; less than 1000: a fraction (section 10)."""
    per_node: int = 0
    """Of a shape: the GPUs on each of its nodes; 0: it has none (section 2)."""

    @property
    def told_ms(self) -> int:
        """What the policy is told of the job's work."""
        return self.work_ms if self.estimate_ms is None else self.estimate_ms


@dataclass(frozen=True)
class Schedule:
    """One list entry per row. `first_start_ms` is the first START action, `lost_ms` nominal work lost
    to preemptions and failures, `run_ms` wall time RUNNING; None where it never came to that."""

    first_start_ms: list[int | None]
    end_ms: list[int | None]
    run_ms: list[int]
    preemptions: list[int]
    lost_ms: list[float]
    held_gpu_ms: list[int]
    cancelled: list[bool]
    log: list[LogEntry]


def as_masks(place: Place) -> tuple[tuple[int, int], ...]:
    """The place as (node, mask) pairs, sorted by node."""
    nodes = sorted({node for node, _ in place})
    return tuple((node, sum(1 << gpu for at, gpu in place if at == node)) for node in nodes)
