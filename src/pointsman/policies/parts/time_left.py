"""How long running jobs will go on, as far as is known."""

from pointsman.policies.sdk import RUNNING, Int, State, core, work_done


@core
def ms_left(S: State, j: Int) -> float:
    """How long running job `j` will go on at its rate, as far as is known: 0 if nothing is. One that has just been
    started, and has no rate yet, is taken to run at its nominal one.
    """
    J = S.jobs[j]
    done = work_done(S, j) if J.state == RUNNING else J.done
    left = J.estimate - done
    if not left > 0.0:
        return 0.0
    return left / J.rate if J.rate > 0.0 else left
