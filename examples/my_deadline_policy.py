"""A policy for jobs with deadlines, a column of the log: ``--keep-columns deadline_s``.

After Chronus (Gao et al., SoCC 2021) and ElasticFlow (Gu et al., ASPLOS 2023): when a job with a deadline is submitted,
the policy decides whether to guarantee it, and keeps to that. Ours is the test, by the GPU time until each deadline:
Chronus solves a program over leases, and ElasticFlow plans how many GPUs each job has when. Also ours: a job preempts
others no sooner than it must, and jobs without a guarantee, which ElasticFlow drops, run when GPUs are left. No job
changes its number of GPUs; any that are free will do.
"""

from typing import Any

import numpy as np

from pointsman.types import JobState, Reason


class Deadlines:
    """Jobs with a guaranteed deadline go first, the earliest first. When the last moment is `slack_s` away, they
    preempt jobs without one.
    """

    name = "deadlines"
    needs = "estimate"
    progress = "service"
    placement = "spread"
    columns = ("deadline_s",)

    def __init__(self, slack_s: float = 600.0) -> None:
        self.slack_s = slack_s
        self.guaranteed: set[int] = set()  # rows of jobs
        self.judged = -1  # the last row

    def copy(self) -> "Deadlines":
        other = Deadlines(self.slack_s)
        other.guaranteed, other.judged = set(self.guaranteed), self.judged
        return other

    def decide(self, view: Any) -> None:
        rows, due = view.jobs["row"], view.jobs["deadline_s"]
        waiting, left_s = view.pending.tolist(), np.maximum(view.jobs["estimate"] / 1000 - view.executed_s, 0.0)
        self._judge(view, [job for job in waiting if rows[job] > self.judged], left_s)
        urgent = [job for job in waiting if rows[job] in self.guaranteed]
        for job in sorted(urgent, key=lambda job: due[job]):
            if view.start(job) is Reason.OK:
                continue
            last_s = due[job] - left_s[job] - self.slack_s
            if last_s > view.now_s:
                view.wake_at(last_s)
            elif self._preempt_for(view, job, left_s) and view.start(job) is not Reason.OK:
                return  # the jobs that it preempts are stopping
        for job in waiting:
            if rows[job] not in self.guaranteed:
                view.start(job)

    def _judge(self, view: Any, new: list[int], left_s: Any) -> None:
        """Guarantee the deadlines of new jobs that can be met along with all that are guaranteed."""
        rows, time_s = view.jobs["row"], view.jobs["deadline_s"] - view.now_s
        present = [*view.pending.tolist(), *view.running.tolist()]
        for job in new:
            self.judged = int(rows[job])
            jobs = np.array([job, *(other for other in present if rows[other] in self.guaranteed)])
            jobs = jobs[np.argsort(time_s[jobs], kind="stable")]
            enough = np.cumsum(view.jobs["asked"][jobs] * left_s[jobs]) <= view.gpus * time_s[jobs]
            if left_s[job] <= time_s[job] and enough.all():  # neither holds without a deadline, which is NaN
                self.guaranteed.add(self.judged)

    def _preempt_for(self, view: Any, job: int, left_s: Any) -> bool:
        """Preempt jobs without a guarantee, the longest first, if they hold enough GPUs. Whether they do."""
        jobs = view.jobs
        stopping = int(jobs["gpus"][jobs["state"] == JobState.STOPPING].sum())
        missing = int(jobs["asked"][job]) - view.free_gpus - stopping
        others = [j for j in view.running.tolist() if jobs["row"][j] not in self.guaranteed and not jobs["pinned"][j]]
        if missing > jobs["gpus"][others].sum():
            return False
        for other in sorted(others, key=lambda j: -left_s[j]):
            if missing <= 0:
                break
            missing -= int(jobs["gpus"][other])
            view.preempt(other)
        return True
