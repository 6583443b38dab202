"""When two jobs should share a GPU (Luo et al., arXiv 2407.13088): the newcomer at once, or when the other has ended.

Their mean completion time rises with every moment the newcomer waits, and then falls steadily until it can have the
GPU alone, so only these two need be compared. Which is better is the same for all longer newcomers once it is waiting,
and, as time goes by, for the same two.
"""

from pointsman.policies.sdk import ACCUMULATIONS, RUNNING, Int, State, core, lowest, row_of, work_done


@core
def remaining(S: State, j: Int) -> float:
    """Nominal ms that job `j` is told to have left."""
    J = S.jobs[j]
    done = work_done(S, j) if J.state == RUNNING else J.done
    return max(0.0, J.estimate - done)


@core
def alone_ms(S: State, b: Int) -> float:
    """Ms that job `b`, which holds GPUs, would need there still if no other job shared them."""
    B = S.jobs[b]
    if B.rate > 0.0:
        return remaining(S, b) / (B.rate * B.slow)
    return remaining(S, b) * S.subbatches[row_of(S, b) * ACCUMULATIONS + lowest(B.accumulation)].stretch


@core
def together_ms(own: float, other: float, slow_own: float, slow_other: float) -> float:
    """Mean ms until two jobs have ended that share from now on: a newcomer of `own` ms alone, slowed `slow_own` times,
    and one of `other` ms alone.
    """
    if slow_own * own >= slow_other * other:
        return own / 2.0 + (1.0 - 1.0 / (2.0 * slow_own)) * slow_other * other
    return other / 2.0 + (1.0 - 1.0 / (2.0 * slow_other)) * slow_own * own


@core
def in_turn_ms(own: float, other: float) -> float:
    """Mean ms until two jobs have ended if the newcomer, of `own` ms, begins when the other has ended."""
    return other + own / 2.0
