"""Where two policies first decide differently."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pointsman.engine.result import Result
from pointsman.errors import UsageError
from pointsman.report.units import duration

DECISIONS = ("START", "PREEMPT")
TELLING = ("time_ms", "kind", "row", "node", "gpu_mask")


@dataclass(frozen=True)
class Decision:
    """One start or preemption."""

    time_s: float
    kind: str
    row: int
    job_id: str
    reason: str
    gpus: int
    nodes: tuple[str, ...]

    def __str__(self) -> str:
        """As one line."""
        where = f" on {', '.join(self.nodes)}" if self.nodes else ""
        return f"{self.kind} {self.job_id} ({self.gpus} GPUs{where}; {self.reason}) at {self.time_s:.3f} s"


@dataclass(frozen=True)
class Divergence:
    """The first decision in which two plan logs differ; None where a log has ended."""

    before: int
    """Decisions that both made alike."""
    first: Decision | None
    second: Decision | None

    @property
    def time_s(self) -> float:
        """When they part, in seconds since the first submit."""
        return min(decision.time_s for decision in (self.first, self.second) if decision is not None)

    def describe(self, first: str, second: str) -> str:
        """In a few lines, for people."""
        at = f"{duration(self.time_s)} after the first submit, after {self.before:,} decisions alike"
        sides = ((first, self.first), (second, self.second))
        return "\n".join([f"they part {at}:", *(f"  {name}: {said or 'decides nothing more'}" for name, said in sides)])


def first_divergence(first: Result, second: Result) -> Divergence | None:
    """Finds the first START or PREEMPT in which the plan logs of two runs on one workload differ; None if none does.

    Raises:
        UsageError: a run has no plan log, or they are of different workloads or clusters.
    """
    _refuse_unlike(first, second)
    plans = [_plan(result) for result in (first, second)]
    same = min(plan.height for plan in plans)
    differs = np.zeros(same, dtype=bool)
    for name in TELLING:
        differs |= plans[0][name][:same].to_numpy() != plans[1][name][:same].to_numpy()
    at = int(differs.argmax()) if differs.any() else same
    if at == same and plans[0].height == plans[1].height:
        return None
    return Divergence(
        plans[0]["seq"][:at].n_unique(), _decision(first, plans[0], at), _decision(second, plans[1], at)
    )  # fmt: skip


def _refuse_unlike(first: Result, second: Result) -> None:
    if first.events is None or second.events is None:
        raise UsageError("a run was made without a plan log; run it again with the log kept to see where policies part")
    told = ("job_id", "submit_s", "gpus", "duration_s")
    if not first.jobs.select(told).equals(second.jobs.select(told)):
        raise UsageError(
            "the two runs are of different workloads; compare policies on one workload (and one seed of it)"
        )
    if list(first.info["node_gpus"]) != list(second.info["node_gpus"]):
        raise UsageError("the two runs are on different clusters; compare policies on one cluster")


def _plan(result: Result) -> pl.DataFrame:
    assert result.events is not None
    kinds = pl.col("kind").cast(pl.String)
    return result.events.filter(kinds.is_in(DECISIONS)).with_columns(kinds).sort("seq", maintain_order=True)


def _decision(result: Result, plan: pl.DataFrame, at: int) -> Decision | None:
    if at >= plan.height:
        return None
    parts = plan.filter(pl.col("seq") == plan["seq"][at])
    told = parts.row(0, named=True)
    names = result.info["node_names"]
    return Decision(
        time_s=told["time_ms"] / 1000,
        kind=told["kind"],
        row=told["row"],
        job_id=str(result.jobs.filter(pl.col("row") == told["row"])["job_id"][0]),
        reason=str(told["reason"]),
        gpus=int(parts["gpus"].sum()),
        nodes=tuple(str(names[node]) for node in parts["node"] if node >= 0),
    )
