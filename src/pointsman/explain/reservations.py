"""What waiting jobs have been promised: claims, and reservations of a policy that plans for several jobs: when a job's
own begins, and which others it must wait for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.setup.demand import Demand
from pointsman.engine.state.records import State
from pointsman.explain.ahead import eligible_pools
from pointsman.explain.room import gpus_in_words, names_of
from pointsman.inputs.durations import duration
from pointsman.inputs.messages import counted
from pointsman.types import NodeState


def claim_of(state: State, slot: int, node_names: Sequence[str]) -> str | None:
    """The place that a waiting job claims, in a clause; None if it has no claim."""
    claims = state.claims[: int(state.g[0]["claims"])]
    mine = claims[claims["next"] == slot]
    if not len(mine):
        return None
    held = sum(int((_occupants(state, part) >= 0).sum()) for part in mine)
    return (
        f"it claims {gpus_in_words(int(mine['gpus'].sum()))} on {names_of(mine['node'], node_names)}; "
        f"jobs that are stopping still hold {held} of that"
    )


def _occupants(state: State, part: Any) -> NDArray[np.int64]:
    """The job on each GPU of a part; -1: it is free."""
    first, mask = int(state.nodes["gpu0"][part["node"]]), int(part["mask"])
    return state.occupants[[first + b for b in range(64) if mask >> b & 1], 0]


def plan_of(policy: Any, state: State) -> list[Any]:
    """The reservations of the last cycle, in order."""
    asked = getattr(policy, "reservations", None)
    return asked(state) if asked else []


def own_reservation(policy: Any, state: State, slot: int, instant: Callable[[int], str]) -> str:
    """When the reservation of a waiting job begins, in a clause; empty if there is no plan."""
    plan = plan_of(policy, state)
    mine = [(k, found.begin_ms) for k, found in enumerate(plan, 1) if found.slot == slot]
    if not mine:
        return "; it has no reservation" if plan else ""
    k, begin_ms = mine[0]
    if begin_ms == np.inf:
        return f"; no GPUs can be reserved for it (place {k:,} of {len(plan):,} in the plan)"
    return f"; its reservation, {k:,} of {len(plan):,}, begins at {instant(int(begin_ms))}"


def would_delay(
    policy: Any, state: State, demands: Sequence[Demand], slot: int, id_of: Callable[[int], str], now_ms: int
) -> str | None:
    """Which job would be late if job `slot` started on free GPUs: that whose reservation, with those before it, leaves
    too few, or the last of these if their places do. None if no reservation of free GPUs begins before it would end.
    """
    job, late = state.jobs[slot], None
    free = _free(state, demands[int(job["cls"])])
    for found in plan_of(policy, state):
        taken = {n: mask for n, mask in found.gpus.items() if free.get(n, 0) & mask}
        if taken and found.slot != slot and found.begin_ms < now_ms + job["aux"]:
            free |= {n: free[n] & ~mask for n, mask in taken.items()}
            late = found
            if _count(free) < job["asked"]:
                break
    if late is None:
        return None
    return (
        f"it would fit, but is expected to take {duration(float(job['aux']) / 1000)}, and would delay job "
        f"{id_of(late.slot)}, whose reservation of {counted(_count(late.gpus), 'GPU')} begins in "
        f"{duration((late.begin_ms - now_ms) / 1000)}"
    )


def _count(gpus: Mapping[int, int]) -> int:
    """GPUs in the masks of nodes."""
    return sum((mask & ((1 << 64) - 1)).bit_count() for mask in gpus.values())


def _free(state: State, demand: Demand) -> dict[int, int]:
    """Masks of the free GPUs of nodes that take work and are eligible."""
    nodes = np.asarray(state.nodes)
    mine = np.isin(nodes["pool"], sorted(eligible_pools(demand))) & (nodes["state"] == NodeState.UP)
    return {n: int(nodes["free_mask"][n]) for n in np.flatnonzero(mine).tolist()}
