"""Example of a policy: small gangs go first, but no job starves."""

from pointsman.types import Reason


class MyPolicy:
    """Smallest gang first. Once a job has waited for `patience_s`, no other job starts before it."""

    name = "small-first"
    needs = "none"

    def __init__(self, patience_s: float = 86_400.0) -> None:
        self.patience_s = patience_s

    def decide(self, view) -> None:
        asked, queue, submit = (view.jobs[field] for field in ("asked", "queue", "submit"))
        full = set()  # queues at their limit
        for job in view.pending.tolist():  # in order of submission
            if view.now_ms - submit[job] < 1000 * self.patience_s:
                break
            if (reason := view.start(job)) is Reason.QuotaExceeded:
                full.add(queue[job])
            elif reason is not Reason.OK:
                return  # keep idle GPUs for this job
        while heads := [job for job in view.heads() if queue[job] not in full]:
            job = min(heads, key=lambda job: asked[job])
            if view.start(job) is not Reason.OK:
                full.add(queue[job])
