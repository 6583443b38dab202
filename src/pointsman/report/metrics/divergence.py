"""Where two policies first decide differently."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pointsman.engine.run.result import RunData
from pointsman.errors import UsageError
from pointsman.inputs.messages import counted
from pointsman.report.units import duration

DECISIONS = ("START", "PREEMPT", "RESIZE", "REBATCH", "MOVE")
TELLING = ("time_ms", "kind", "row", "node", "gpu_mask")

WHY = {
    ("START", "OK"): "it is next in the policy's order, and it fits",
    ("START", "Backfilled"): "it fits now and delays no reservation",
    ("PREEMPT", "Evicted"): "it makes room for a job that goes first",
}
"""Reasons in words."""


@dataclass(frozen=True)
class Decision:
    """One start, preemption or other act of a policy."""

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
        why = WHY.get((self.kind, self.reason))
        gpus = counted(self.gpus, "GPU")
        said = f"{self.reason}: {why}" if why else self.reason
        return f"{self.kind} {self.job_id} ({gpus}{where}) at {self.time_s:.3f} s ({said})"


@dataclass(frozen=True)
class Divergence:
    """The first decision in which two plan logs differ; None where a log has ended."""

    before: int
    """Decisions that both made alike."""
    first: Decision | None
    second: Decision | None

    @property
    def earlier(self) -> Decision:
        """The decision of the two that comes first; the first policy's where both come at once."""
        return min((one for one in (self.first, self.second) if one is not None), key=lambda one: one.time_s)

    @property
    def time_s(self) -> float:
        """When they part, in seconds since the first submit."""
        return self.earlier.time_s

    @property
    def silent(self) -> int | None:
        """Which policy (0, 1) decides nothing at that instant; None if both decide, and otherwise than the other."""
        sides = (self.first, self.second)
        return next((i for i, one in enumerate(sides) if one is None or one.time_s > self.time_s), None)

    def describe(self, first: str, second: str, instead: str = "") -> str:
        """In a few lines, for people; `instead` is what is said of the job under the policy that decides nothing."""
        alike = f"{counted(self.before, 'decision')} alike"
        lines = [f"they part {duration(self.time_s)} after the first submit, after {alike}:"]
        for i, (name, one) in enumerate(((first, self.first), (second, self.second))):
            if i != self.silent:
                lines.append(f"  {name}: {one}")
                continue
            after = "it decides nothing more" if one is None else f"its next decision is {one}"
            lines.append(f"  {name}: {instead or f'nothing of {self.earlier.job_id} then'}; {after}")
        return "\n".join(lines)


def first_divergence(first: RunData, second: RunData) -> Divergence | None:
    """Finds the first decision, in time and then in sequence, in which two runs on one workload differ; None if none.

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
    before = min(_whole_decisions(plan, at) for plan in plans)
    return Divergence(before, _decision(first, plans[0], before), _decision(second, plans[1], before))


def _whole_decisions(plan: pl.DataFrame, at: int) -> int:
    """How many decisions end before line `at`; a start on several nodes is several lines."""
    whole = plan["seq"][:at].n_unique()
    return whole - (0 < at < plan.height and plan["seq"][at - 1] == plan["seq"][at])


def _refuse_unlike(first: RunData, second: RunData) -> None:
    if first.events is None or second.events is None:
        raise UsageError("a run was made without a plan log; run it again with a log to see where policies diverge")
    told = ("job_id", "submit_s", "gpus", "duration_s")
    if not first.jobs.select(told).equals(second.jobs.select(told)):
        raise UsageError(
            "the two runs are of different workloads; compare policies on one workload (and one seed of it)"
        )
    if list(first.info["node_gpus"]) != list(second.info["node_gpus"]):
        raise UsageError("the two runs are on different clusters; compare policies on one cluster")


def _plan(result: RunData) -> pl.DataFrame:
    assert result.events is not None
    kinds = pl.col("kind").cast(pl.String)
    return result.events.filter(kinds.is_in(DECISIONS)).with_columns(kinds).sort("seq", maintain_order=True)


def _decision(result: RunData, plan: pl.DataFrame, at: int) -> Decision | None:
    """The decision before which there are `at`."""
    order = plan["seq"].unique(maintain_order=True)
    if at >= len(order):
        return None
    parts = plan.filter(pl.col("seq") == order[at])
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
