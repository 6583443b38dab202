"""Ada-SRSF: LWF-κ's placement and AdaDUAL's admission of transfers (Wang et al., arXiv 2002.10105).

Two transfers of M_new < M_old on one node: let the new one wait, and they end after b·M_old and b·(M_old + M_new); let
it share, and after (2b + η)·M_new and (2b + η)·M_new + b·(M_old − M_new). The sum of both is less with sharing iff
M_new / M_old < b / (2·(b + η)), 0.392 on 10 Gb Ethernet. Beside two or more a new one always waits.
"""

from typing import ClassVar

import numpy as np

from pointsman.policies.lwf.lwf import Lwf, on_event, on_run
from pointsman.policies.lwf.placement import place_waiting
from pointsman.policies.sdk import (
    UNDER_WAY,
    Int,
    State,
    admit,
    core,
    jobs_on,
    next_transfer,
    service_left,
    transfer_left,
)

__all__ = ["AdaSrsf", "decide", "on_event", "on_run"]


class AdaSrsf(Lwf):
    """LWF-κ's placement; a transfer begins beside another only if it is so much smaller that both gain on average."""

    name: ClassVar[str] = "ada-srsf"
    hooks: ClassVar[str] = "pointsman.policies.lwf.ada_srsf"
    admits: ClassVar[bool] = True


@core
def _least_old(S: State, n: Int) -> float:
    """Ms left, alone, of the smallest transfer under way on node `n`."""
    N = S.nodes[n]
    least = np.inf
    for x in range(N.gpu0, N.gpu0 + N.gpus):
        for o in range(jobs_on(S, x)):
            if S.transfers[S.occupants[x, o]].state == UNDER_WAY:
                least = min(least, transfer_left(S, S.occupants[x, o]))
    return least


@core
def _gains(S: State, j: Int) -> bool:
    """AdaDUAL: whether the waiting transfer of job `j` should begin now."""
    threshold = 1.0 / (2.0 * (1.0 + S.g[0].penalty))
    i = S.jobs[j].part
    while i >= 0:
        n = S.parts[i].node
        if S.nics[n].under_way > 1:
            return False
        if S.nics[n].under_way == 1 and not S.transfers[j].left < threshold * _least_old(S, n):
            return False
        i = S.parts[i].next
    return True


@core
def decide(S: State) -> None:
    """Place who waits, then admit transfers, least remaining service first."""
    place_waiting(S)
    j = next_transfer(S, -1.0, np.int64(-1))
    while j >= 0:
        if _gains(S, j):
            admit(S, j)
        j = next_transfer(S, service_left(S, j), S.jobs[j].row)
