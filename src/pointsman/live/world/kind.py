"""What jobs are alike in."""

from typing import NamedTuple


class Kind(NamedTuple):
    """What the engine, policies and estimates know jobs by; the names are those of the job table."""

    gpus: int = 1
    nodes_requested: int | None = None
    gpus_per_node: int | None = None
    gpu_type: str | None = None
    partition: str | None = None
    queue: str | None = None
    account: str | None = None
    user: str | None = None
    model: str | None = None
    batch_size: int | None = None
