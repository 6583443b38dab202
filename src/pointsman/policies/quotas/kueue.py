"""Quotas and borrowing as in Kueue (https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/ and .../preemption/).

A queue of the log is a ClusterQueue with a nominal quota of GPUs. Queues of one cohort borrow what the others leave
unused, up to a limit; a job that fits its own queue's nominal quota may reclaim it (classic preemption). Jobs that do
not borrow are admitted first, then by priority, then by submission. Under StrictFIFO a queue's first job, while it
waits, keeps its quota from jobs of other queues behind it (https://github.com/kubernetes-sigs/kueue/issues/4809).

Ours: a job is admitted only if its gang can also be placed now; GPUs are of one resource flavor, whatever their type;
no job is preempted while another is STOPPING. Left out: lending limits, fair sharing, `borrowWithinCohort`, trees of
cohorts, several flavors, admission checks and requeuing back-off. Jobs without a queue have no quota.
"""

import numpy as np

from pointsman.policies.parts.reserving.overdue_heads import follow, predict_end, serves_overdue
from pointsman.policies.quotas.admission import admit_all, admit_around_heads, find_heads
from pointsman.policies.quotas.cohorts import NEVER, params, queue
from pointsman.policies.quotas.declared import Kueue
from pointsman.policies.quotas.reclaim import NEVER_WITHIN, make_room
from pointsman.policies.sdk import PENDING, Int, State, before, core, enqueue
from pointsman.policies.sdk import on_run as note_running

__all__ = ["Kueue", "decide", "on_event", "on_run"]


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """A job that waits joins its class."""
    if j >= 0:
        follow(S, kind, j)
        if S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
            enqueue(S, j, 0.0, S.jobs[j].estimate if serves_overdue(S) else np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """A job that runs joins the running ones."""
    if serves_overdue(S):
        predict_end(S, j, np.int64(0))
    else:
        note_running(S, j)


@core
def _next_to_preempt(S: State) -> Int:
    """The first job, in order, of the queues whose first job has not tried to preempt in this pass; -1 if none."""
    find_heads(S)
    best = np.int64(-1)
    for q in range(1, S.queues.shape[0]):
        j = queue(S, q).head
        if j >= 0 and queue(S, q).tried != S.g[0].pass_id and (best < 0 or before(S, j, best)):
            best = j
    return best


@core
def decide(S: State) -> None:
    """Admit jobs within quotas; then the first of each queue may preempt, if it is allowed and none is stopping."""
    admit_around_heads(S)
    if params(S).reclaim_within_cohort == NEVER and params(S).within_cluster_queue == NEVER_WITHIN:
        return
    while S.g[0].pending > 0 and S.g[0].stopping == 0:
        j = _next_to_preempt(S)
        if j < 0:
            return
        queue(S, S.jobs[j].queue).tried = S.g[0].pass_id
        if make_room(S, j):
            admit_all(S, 0.0)
