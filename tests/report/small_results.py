"""Small real results, made by a slow and plain simulation in one file (the report must not need the engine)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from pointsman.report.result import Result

JOB_SCHEMA = {
    "job_id": pl.String, "user": pl.String, "queue": pl.String, "partition": pl.String, "model": pl.String,
    "gpu_type": pl.String, "gpus": pl.Int64, "priority": pl.Int64, "submit_s": pl.Float64, "duration_s": pl.Float64,
    "row": pl.Int64, "estimate_s": pl.Float64, "start_s": pl.Float64, "end_s": pl.Float64, "wait_s": pl.Float64,
    "pending_s": pl.Float64,
    "jct_s": pl.Float64, "run_s": pl.Float64, "held_gpu_s": pl.Float64, "preemptions": pl.Int64, "lost_s": pl.Float64,
    "comm_s": pl.Float64, "nodes": pl.Int64, "locality": pl.String, "state": pl.String,
}  # fmt: skip
EVENT_SCHEMA = {
    "time_ms": pl.Int64, "seq": pl.Int64, "kind": pl.String, "row": pl.Int64, "attempt": pl.Int64, "arg": pl.Int64,
    "reason": pl.String, "node": pl.Int64, "gpu_mask": pl.Int64, "gpus": pl.Int64,
}  # fmt: skip
SERIES = ("time_ms", "used_gpus", "running", "pending", "queued_gpus", "largest_free", "whole_free_nodes", "head_gpus")


@dataclass
class Job:
    row: int
    submit_s: int
    gpus: int
    duration_s: int
    user: str | None = None
    queue: str | None = None
    left_s: int = 0
    since_s: int = 0
    held_gpu_s: int = 0
    run_s: int = 0
    attempt: int = 0
    preemptions: int = 0
    start_s: int | None = None
    end_s: int | None = None
    parts: list[tuple[int, list[int]]] = field(default_factory=list)
    spread: int = 0


class Simulation:
    """FIFO (the head blocks), SJF with backfill, or SRTF, on like nodes; whole seconds; best fit."""

    def __init__(self, jobs: list[Job], nodes: int, size: int, policy: str) -> None:
        self.jobs, self.policy, self.size = jobs, policy, size
        self.free = [list(range(size)) for _ in range(nodes)]
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.events: list[tuple[Any, ...]] = []
        self.steps: list[tuple[int, ...]] = []
        self.seq = self.decisions = 0
        self.origin = min(job.submit_s for job in jobs)

    def run(self) -> None:
        coming = sorted(self.jobs, key=lambda job: (job.submit_s, job.row))
        while coming or self.running:
            times = [job.since_s + job.left_s for job in self.running] + [job.submit_s for job in coming[:1]]
            now = min(times)
            for job in sorted(self.running, key=lambda job: job.row):
                if job.since_s + job.left_s == now:
                    self.release(job, now, "FINISH", "OK")
                    job.end_s = now
            while coming and coming[0].submit_s == now:
                self.waiting.append(coming.pop(0))
            self.decide(now)
            self.sample(now)

    def key(self, job: Job) -> tuple[int, int]:
        return (0 if self.policy == "fifo" else job.left_s, job.row)

    def decide(self, now: int) -> None:
        for job in self.running if self.policy == "srtf" else ():
            self.settle(job, now)
        for job in sorted(self.waiting, key=self.key):
            self.decisions += 1
            if not self.fits(job.gpus) and self.policy == "srtf":
                self.evict_for(job, now)
            if self.fits(job.gpus):
                self.start(job, now)
            elif self.policy == "fifo":
                break

    def evict_for(self, job: Job, now: int) -> None:
        worse = sorted((other for other in self.running if other.left_s > job.left_s), key=self.key)
        slack = self.size if job.gpus > self.size else 0  # so that whole nodes are surely among what is freed
        if sum(other.gpus for other in worse) + sum(map(len, self.free)) < job.gpus + slack:
            return
        while worse and not self.fits(job.gpus):
            victim = worse.pop()
            self.release(victim, now, "PREEMPT", "Evicted")
            victim.preemptions += 1
            self.waiting.append(victim)

    def fits(self, gpus: int) -> bool:
        whole, rest = divmod(gpus, self.size)
        return len(self.choose(whole, rest)) == whole + (rest > 0)

    def choose(self, whole: int, rest: int) -> list[tuple[int, int]]:
        empty = [node for node, free in enumerate(self.free) if len(free) == self.size][:whole]
        chosen = [(node, self.size) for node in empty]
        left = [(len(free), node) for node, free in enumerate(self.free) if node not in empty and len(free) >= rest]
        return [*chosen, (min(left)[1], rest)] if rest and left else chosen

    def start(self, job: Job, now: int) -> None:
        self.waiting.remove(job)
        self.running.append(job)
        job.start_s = now if job.start_s is None else job.start_s
        job.since_s, job.attempt, job.parts = now, job.attempt + 1, []
        for node, gpus in self.choose(*divmod(job.gpus, self.size)):
            taken, self.free[node] = self.free[node][:gpus], self.free[node][gpus:]
            job.parts.append((node, taken))
            self.log(now, "START", job, "OK", node, sum(1 << gpu for gpu in taken), gpus)
        job.spread = len(job.parts)
        self.seq += 1

    def settle(self, job: Job, now: int) -> None:
        done = now - job.since_s
        job.left_s, job.run_s, job.held_gpu_s = job.left_s - done, job.run_s + done, job.held_gpu_s + done * job.gpus
        job.since_s = now

    def release(self, job: Job, now: int, kind: str, reason: str) -> None:
        self.settle(job, now)
        self.running.remove(job)
        for node, gpus in job.parts:
            self.free[node] = sorted(self.free[node] + gpus)
        self.log(now, kind, job, reason, -1, 0, job.gpus)
        self.seq += 1

    def log(self, now: int, kind: str, job: Job, reason: str, node: int, mask: int, gpus: int) -> None:
        time_ms = 1000 * (now - self.origin)
        self.events.append((time_ms, self.seq, kind, job.row, job.attempt, 0, reason, node, mask, gpus))

    def sample(self, now: int) -> None:
        free = [len(gpus) for gpus in self.free]
        head = min(self.waiting, key=self.key).gpus if self.waiting else 0
        used = len(self.free) * self.size - sum(free)
        queued = sum(job.gpus for job in self.waiting)
        whole = sum(count == self.size for count in free)
        time_ms = 1000 * (now - self.origin)
        self.steps.append((time_ms, used, len(self.running), len(self.waiting), queued, max(free), whole, head))


def job_row(job: Job) -> dict[str, Any]:
    ended = job.end_s is not None
    return {
        "job_id": f"job-{job.row}", "user": job.user, "queue": job.queue, "gpus": job.gpus, "priority": 0,
        "submit_s": job.submit_s, "duration_s": job.duration_s, "row": job.row, "start_s": job.start_s,
        "end_s": job.end_s, "wait_s": None if job.start_s is None else job.start_s - job.submit_s,
        "pending_s": job.end_s - job.submit_s - job.run_s if ended else None,
        "jct_s": job.end_s - job.submit_s if ended else None, "run_s": job.run_s, "held_gpu_s": job.held_gpu_s,
        "preemptions": job.preemptions, "lost_s": 0.0, "comm_s": 0.0, "nodes": job.spread,
        "locality": "CLUSTER" if job.spread > 1 else "NODE" if job.gpus > 1 else "GPU", "state": "COMPLETED",
    }  # fmt: skip


def sampled(steps: list[tuple[int, ...]], samples: int) -> pl.DataFrame:
    table = np.array(steps)
    times = np.linspace(table[0, 0], table[-1, 0], samples).astype(np.int64)
    rows = table[np.searchsorted(table[:, 0], times, side="right") - 1]
    rows[:, 0] = times
    return pl.DataFrame(rows, schema=dict.fromkeys(SERIES, pl.Int64), orient="row")


def simulate(
    jobs: list[Job], *, nodes: int, size: int, policy: str = "fifo", seed: int = 0, log: bool = True
) -> Result:
    """Run a few jobs on `nodes` nodes of `size` GPUs."""
    for job in jobs:
        job.left_s = job.duration_s
    world = Simulation(jobs, nodes, size, policy)
    world.run()
    needs = "none" if policy == "fifo" else "oracle"
    return Result(
        jobs=pl.DataFrame([job_row(job) for job in jobs], schema=JOB_SCHEMA),
        events=pl.DataFrame(world.events, schema=EVENT_SCHEMA, orient="row") if log else None,
        series=sampled(world.steps, 300),
        info={
            "policy": policy, "needs": needs, "knowledge": needs, "params": {}, "placement": "consolidated",
            "told_profiles": "none", "progress": "work" if policy == "srtf" else "none",
            "overheads": "none", "cluster": f"{nodes}x{size}", "gpus": nodes * size, "nodes": nodes,
            "node_names": tuple(f"n{node}" for node in range(nodes)), "node_gpus": [size] * nodes, "seed": seed,
            "engine_s": 0.25, "decisions": world.decisions, "events": world.seq,
            "workload": {"source": "hand-made", "sha256": "0" * 64, "format": "native", "command": None},
            "quality": {"read": len(jobs), "kept": len(jobs), "dropped": {}},
            "assumptions": ["durations are on the asked GPUs at the best locality, alone"],
        },
    )  # fmt: skip


def busy_jobs(count: int, seed: int) -> list[Job]:
    """Jobs with heavy tails for 8 nodes of 8 GPUs at a load of about 0.9."""
    random = np.random.default_rng(seed)
    gpus = random.choice([1, 2, 4, 8, 16, 24, 40], count, p=[0.5, 0.12, 0.12, 0.16, 0.06, 0.03, 0.01])
    duration = np.maximum(random.lognormal(7, 1.4, count), 30).astype(int)
    gaps = random.exponential(1, count)
    load = 0.9 * 64
    submit = np.cumsum(gaps * (gpus * duration).sum() / load / gaps.sum()).astype(int)
    users, queues = random.zipf(1.6, count) % 12, random.integers(0, 3, count)
    return [
        Job(row, int(submit[row]), int(gpus[row]), int(duration[row]), f"user{users[row]}", f"team{queues[row]}")
        for row in range(count)
    ]
