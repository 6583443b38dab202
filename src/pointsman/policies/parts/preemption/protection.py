"""How long a running job is protected from preemption, so that it keeps some of what it does."""

from pointsman.policies.sdk import Int, State, after, core, work_done


@core
def protected_until(S: State, j: Int, quantum_ms: Int) -> Int:
    """When running job `j`, which is in the running index if it may be preempted already, may be so at its rate: when
    it has run `quantum_ms`, or, if a preemption then would lose all that it has done since it began to run, when it has
    done twice what that loses, after its first checkpoint. Otherwise two jobs that preempt each other could go on for
    ever.
    """
    J = S.jobs[j]
    now, lost = S.g[0].now, S.g[0].lost_ms
    first = S.g[0].checkpoint_ms if S.g[0].loses_since_checkpoint else 0.0
    end = J.started + quantum_ms
    done = work_done(S, j) - J.restored
    if J.bucket >= 0 or (now <= end and done + J.rate * (end - now) > lost + first):
        return end
    return max(end, after(now, 2.0 * lost + first - done, J.rate))
