"""Forgetting a policy: its claims, indexes, memory, scratch fields, alarms and timer."""

from pointsman.engine.actions.claims import end_all_claims
from pointsman.engine.actions.eviction_cache import forget_failures
from pointsman.engine.jit.compile import core
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.policy_fields import forget_job, forget_places
from pointsman.engine.state.records import State
from pointsman.types import Locality

CLUSTER = int(Locality.CLUSTER)


@core
def _forget_indexes(S: State) -> None:
    """Empty every index of jobs."""
    for b in range(S.buckets.shape[0]):
        S.buckets[b].root = -1
        S.buckets[b].first = -1
        S.buckets[b].last = -1
        S.buckets[b].newest = -1
        S.buckets[b].leader = -1
        S.buckets[b].trail = 0
        S.buckets[b].count = 0
        S.buckets[b].by_key = 0
    S.g[0].active = 0


@core
def forget_policy(S: State) -> None:
    """Nothing is left of what a policy knew of jobs, or asked for; its memory is `Simulation`'s affair."""
    g = S.g[0]
    end_all_claims(S)
    _forget_indexes(S)
    g.within = CLUSTER
    g.wake = NEVER
    forget_places(S)
    for c in range(S.classes.shape[0]):
        C = S.classes[c]
        C.active = -1
        C.failed_at = -1
        C.failed_key = 0.0
        C.lacking = 0
    for r in range(S.reaches.shape[0]):
        S.reaches[r].failed_row = 0
    forget_failures(S)
    for j in range(g.slots):
        J = S.jobs[j]
        J.bucket = -1
        J.alarm = NEVER
        forget_job(S, j)
