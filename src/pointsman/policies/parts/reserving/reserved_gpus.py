"""GPUs that are reserved for jobs that wait (`reserve`): hidden from others in a cycle, or left to them."""

import numpy as np

from pointsman.policies.sdk import Int, State, core, count, give, insert, nodes_blocked, remove, running_index, take


@core
def expect_end(S: State, j: Int, end: float) -> None:
    """Job `j`, which holds GPUs, is estimated to end at `end`."""
    J = S.jobs[j]
    if J.bucket >= 0:
        remove(S, j)
    J.key = end
    J.aux = np.inf
    S.buckets[running_index(S)].by_key = 1
    insert(S, running_index(S), j)


@core
def hide_reserved(S: State) -> None:
    """Reserved GPUs that are free count as taken."""
    for i in range(S.g[0].reserved):
        R = S.reserve[i]
        R.next = R.mask & S.nodes[R.node].free_mask
        if R.next != 0:
            take(S, R.node, R.next, count(R.next))


@core
def unhide_reserved(S: State) -> None:
    """They are free again."""
    for i in range(S.g[0].reserved):
        R = S.reserve[i]
        if R.next != 0:
            give(S, R.node, R.next, count(R.next))


@core
def is_behind_head(S: State, c: Int) -> bool:
    """Whether jobs of class `c` could use nodes of a job with a reservation, which are blocked in this cycle; until
    when is noted in `until` of their reach.
    """
    return bool(nodes_blocked(S, S.classes[c].reach) > 0)
