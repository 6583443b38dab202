"""Jobs ahead of a waiting job that could use some of the nodes that it could use."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.setup.demand import Demand
from pointsman.engine.state.records import State
from pointsman.types import JobState


def blocker(state: State, demands: Sequence[Demand], slot: int) -> int:
    """The job that blocked some of the nodes on which job `slot` is eligible, in the last cycle; -1: none."""
    pools = np.asarray(state.pools)[sorted(eligible_pools(demands[int(state.jobs[slot]["cls"])]))]
    blockers = pools["blocker"][pools["blocked"] == state.g[0]["pass_id"]]
    return int(blockers[0]) if len(blockers) else -1


def jobs_ahead(jobs: NDArray[np.void], demands: Sequence[Demand], slot: int) -> list[int]:
    """Waiting jobs that go before job `slot` and share an eligible node with it, in order."""
    mine = eligible_pools(demands[int(jobs["cls"][slot])])
    shares = np.array([not mine.isdisjoint(eligible_pools(demand)) for demand in demands])
    waiting = np.flatnonzero(jobs["state"] == JobState.PENDING)
    order = waiting[np.lexsort([jobs[name][waiting] for name in ("row", "key", "neg_priority")])]
    before = order[: int(np.flatnonzero(order == slot)[0])]
    return before[shares[jobs["cls"][before]]].tolist()


def eligible_pools(demand: Demand) -> set[int]:
    """Pools of nodes, under any of its alternatives."""
    return {pool for pools in demand.alternatives for pool in pools}
