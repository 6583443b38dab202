"""A bound on waiting for learned pickers (ours): a job that has waited too long goes next, whatever the network likes.

A waiting job is *overdue* once it has waited `patience_durations` times its duration, as the policy is told it. Overdue
jobs start in the order in which they became overdue. For the first that does not fit, a number of GPUs is reserved:
jobs that have started since it became overdue always leave enough for it. So it starts at the latest when all jobs have
ended that ran when it became the first; meanwhile the network goes on picking.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.types import NEVER_MS, NodeState, Reason

if TYPE_CHECKING:
    from pointsman.policies.sdk import View

MOST, MOST_MS = 1e9, 1e15
Start = Callable[[int], int]
"""Starts a waiting job if it fits: `Reason.OK`, or why not."""


@dataclass(frozen=True)
class Reserved:
    """GPUs of some nodes for an overdue job."""

    job: int
    due_ms: float
    pools: tuple[int, ...]
    """Pools of nodes of its first alternative that could hold it."""

    def spares(self, view: "View", job: int) -> bool:
        """Whether enough would be left for it if `job` started, once the jobs that are older have ended."""
        if not any(pool in self.pools for pools in _alternatives(view, job) for pool in pools):
            return True
        asked = view.jobs["asked"]
        return _gpus(view, self.pools) - self._taken_since(view) - asked[job] >= asked[self.job]

    def _taken_since(self, view: "View") -> int:
        """GPUs of its nodes held by jobs that got them since it became overdue."""
        state = view.state
        mine = np.repeat(_up(view, self.pools), state.nodes["gpus"])
        holders = state.occupants[mine, 0]
        return int((view.jobs["held_since"][holders[holders >= 0]] >= self.due_ms).sum())


@dataclass
class KeptBack:
    """What is kept for overdue jobs that cannot start."""

    reserved: list[Reserved] = field(default_factory=list)
    queues: dict[int, int] = field(default_factory=dict)
    """By queue at its limit, the overdue job that waits for it: no other job of the queue starts."""

    def __bool__(self) -> bool:
        return bool(self.reserved or self.queues)

    def by(self, view: "View", job: int) -> int:
        """The overdue job that waiting `job` must not delay, and would; -1 if there is none."""
        queue = int(view.jobs["queue"][job])
        if self.queues.get(queue, job) != job:
            return self.queues[queue]
        return next((one.job for one in self.reserved if one.job != job and not one.spares(view, job)), -1)


class Patience:
    """How long a job may wait, in durations of its own, before it goes next."""

    def __init__(self, durations: float | None, policy: str) -> None:
        """None bounds nothing; `policy` is named in the message.

        Raises:
            UsageError: it is neither None nor a number from 0 to 1e9.
        """
        if durations is not None and (type(durations) not in (int, float) or not 0 <= durations <= MOST):
            raise UsageError(
                f"{policy}.patience_durations = {durations!r:.60}: it must be a number from 0 to 1e9, how many times "
                "its duration a job may wait; leave it out for no bound"
            )
        self.durations = durations

    def serve(self, view: "View", start: Start) -> KeptBack:
        """Start overdue jobs in their order."""
        if self.durations is None:
            return KeptBack()
        waiting, due_ms = self._by_due(view)
        return _start_in_order(view, waiting[due_ms <= view.now_ms].tolist(), due_ms, start)

    def keeps_back(self, view: "View") -> KeptBack:
        """What is kept back after a pass, in which all overdue jobs that could start have."""
        return self.serve(view, lambda job: Reason.Resources)

    def set_alarm(self, view: "View") -> None:
        """At the end of a pass: have one when the next waiting job is overdue, and none for a job that has started."""
        if self.durations is None:
            return
        _, due_ms = self._by_due(view)
        coming = due_ms[(due_ms > view.now_ms) & (due_ms < MOST_MS)]
        view.wake_only_at_ms(int(coming[0]) if len(coming) else NEVER_MS)

    def _by_due(self, view: "View") -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Waiting jobs in the order in which they are overdue (ties: submit order), and from when on (ms)."""
        waiting = view.pending
        jobs = view.jobs[waiting]
        durations_ms = np.where(np.isnan(jobs["estimate"]), np.inf, jobs["estimate"])
        due_ms = jobs["pend_since"] + np.ceil((self.durations or 0.0) * durations_ms)
        order = np.argsort(due_ms, kind="stable")
        return waiting[order], due_ms[order]


def _start_in_order(view: "View", overdue: list[int], due_ms: NDArray[np.float64], start: Start) -> KeptBack:
    """Start these jobs, each unless it would delay one before it."""
    kept = KeptBack()
    for job, due in zip(overdue, due_ms.tolist(), strict=False):
        queue = int(view.jobs["queue"][job])
        if queue in kept.queues or _over_limit(view, job):
            kept.queues.setdefault(queue, job)
        elif kept.by(view, job) >= 0 or start(job) != Reason.OK:
            _reserve(view, job, due, kept)
    return kept


def _reserve(view: "View", job: int, due_ms: float, kept: KeptBack) -> None:
    """Reserve GPUs for `job` on nodes that could hold it, unless some are reserved on them for one before it."""
    asked = view.jobs["asked"][job]
    pools = next((tuple(pools) for pools in _alternatives(view, job) if _gpus(view, tuple(pools)) >= asked), None)
    if pools is not None and not any(pool in one.pools for one in kept.reserved for pool in pools):
        kept.reserved.append(Reserved(job, due_ms, pools))


def _over_limit(view: "View", job: int) -> bool:
    queue = view.state.queues[view.jobs["queue"][job]]
    return 0 <= queue["limit"] < queue["held"] + view.jobs["asked"][job]


def _up(view: "View", pools: tuple[int, ...]) -> NDArray[np.bool_]:
    """(nodes,) whether each is of these pools, and UP."""
    nodes = view.state.nodes
    return np.isin(nodes["pool"], pools) & (nodes["state"] == NodeState.UP)


def _gpus(view: "View", pools: tuple[int, ...]) -> int:
    """GPUs of the nodes of these pools that are UP, free or not."""
    return int(view.state.nodes["gpus"][_up(view, pools)].sum())


def _alternatives(view: "View", job: int) -> list[list[int]]:
    """The pools of nodes that each alternative of its demand admits."""
    state = view.state
    demand = state.classes[view.jobs["cls"][job]]
    alternatives = state.alts[demand["alt"] : demand["alt_end"]]
    return [state.ints[a["pool"] : a["pool_end"]].tolist() for a in alternatives]
