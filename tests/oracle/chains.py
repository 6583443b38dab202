"""Section 9: jobs as chains of iterations, millisecond by millisecond. Nothing leaps here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .model import Gpu

Action = tuple[str, int, tuple[Gpu, ...]]
"""('START', 'PREEMPT' or 'ADMIT'; row; the GPUs of a start)."""

LATEST_MS, NEVER_MS = 10_000_000, 1 << 62


@dataclass(frozen=True)
class Chain:
    """A job: its tasks and transfer in ms, its memory, and its work in nominal ms."""

    submit_ms: int
    gpus: int
    work: float
    fw: int
    bw: int
    wire: float
    solo: int
    memory: int
    told: float | None
    """Of its work; None: nothing."""
    per_node: int = 0
    """Of a shape: the GPUs on each of its nodes; 0: it has none."""


@dataclass(frozen=True)
class Ground:
    """The cluster and the law."""

    nodes: tuple[int, ...]
    """GPUs of each."""
    memory: int
    """Of each GPU."""
    sharing: int
    latency: float
    penalty: float
    """eta / b"""
    admits: bool
    start_ms: int = 0
    stop_ms: int = 0
    lost_ms: int = 0
    cancels: tuple[tuple[int, int], ...] = ()
    """(ms, row), after the job's submit."""


@dataclass
class Running:
    """A job as it lives."""

    row: int
    chain: Chain
    state: str = "FUTURE"
    gpus: tuple[Gpu, ...] = ()
    done: float = 0.0
    iterations: int = 0
    """Still to do."""
    workers: dict[Gpu, str] = field(default_factory=dict)
    """``forward``, ``in forward``, ``backward``, ``in backward`` or ``over``, by GPU."""
    transfer: str = "none"
    """``none``, ``ready``, ``waits`` or ``under way``."""
    left: float = 0.0
    rate: float = 0.0
    rated_ms: int = 0
    sharers: int = 0
    transfer_end_ms: int = -1
    ready_ms: int = 0
    changes_ms: int = -1
    """When STARTING or STOPPING ends."""
    since_ms: int = 0
    held_since_ms: int = 0
    first_start_ms: int | None = None
    end_ms: int | None = None
    run_ms: int = 0
    held_gpu_ms: int = 0
    comm_ms: int = 0
    preemptions: int = 0

    @property
    def nodes(self) -> set[int]:
        return {node for node, _ in self.gpus}

    def iterations_told(self) -> int:
        told = self.chain.told
        return 0 if told is None else math.floor(max(0.0, told - self.done) / self.chain.solo + 0.5)

    def service(self) -> int:
        return self.iterations_told() * (self.chain.fw + self.chain.bw) * self.chain.gpus

    def workload(self) -> int:
        wire = math.ceil(self.chain.wire) if len(self.nodes) > 1 else 0
        return self.iterations_told() * (self.chain.fw + self.chain.bw + wire)

    def left_at(self, now: int) -> float:
        if self.transfer != "under way" or now <= self.rated_ms:
            return self.left
        return max(0.0, self.left - math.floor(1024 * self.rate * (now - self.rated_ms)) / 1024)


class World:
    """`decide(world)` is called at every pass."""

    def __init__(self, ground: Ground, chains: Sequence[Chain], decide: Callable[["World"], None]) -> None:
        self.ground = ground
        self.jobs = [Running(row, chain) for row, chain in enumerate(chains)]
        self.decide = decide
        self.now = 0
        self.task: dict[Gpu, tuple[Running, int] | None] = {
            (n, g): None for n, size in enumerate(ground.nodes) for g in range(size)
        }
        self.wake_ms = NEVER_MS
        self.happened: set[str] = set()
        self.freed: set[int] = set()
        self.passes: list[int] = []
        self.actions: list[tuple[int, Action]] = []

    # -- what can be asked -----------------------------------------------------------------------------

    def having(self, state: str) -> list[Running]:
        return [job for job in self.jobs if job.state == state]

    def on(self, gpu: Gpu) -> list[Running]:
        return [job for job in self.jobs if gpu in job.gpus]

    def has_room(self, job: Running, gpu: Gpu) -> bool:
        there = self.on(gpu)
        taken = sum(other.chain.memory for other in there)
        return len(there) < self.ground.sharing and (taken + job.chain.memory <= self.ground.memory)

    def waiting(self) -> list[Running]:
        return [job for job in self.jobs if job.transfer == "waits"]

    def under_way(self, node: int) -> list[Running]:
        return [job for job in self.jobs if job.transfer == "under way" and node in job.nodes]

    # -- what a policy does ----------------------------------------------------------------------------

    def start(self, job: Running, gpus: tuple[Gpu, ...]) -> None:
        self.actions.append((self.now, ("START", job.row, tuple(sorted(gpus)))))
        job.gpus = tuple(sorted(gpus))
        job.held_since_ms = self.now
        job.workers = dict.fromkeys(job.gpus, "over")
        if job.first_start_ms is None:
            job.first_start_ms = self.now
        if self.ground.start_ms:
            job.state, job.changes_ms = "STARTING", self.now + self.ground.start_ms
        else:
            self._run(job)

    def preempt(self, job: Running) -> None:
        self.actions.append((self.now, ("PREEMPT", job.row, ())))
        self._stop_running(job)
        job.preemptions += 1
        job.done -= min(job.done, float(self.ground.lost_ms))
        if self.ground.stop_ms:
            job.state, job.changes_ms = "STOPPING", self.now + self.ground.stop_ms
        else:
            self._wait(job)

    def admit(self, job: Running) -> None:
        assert job.transfer == "waits"
        self.actions.append((self.now, ("ADMIT", job.row, ())))
        self._begin_transfer(job)

    def wake_at(self, time_ms: int) -> None:
        self.wake_ms = min(self.wake_ms, time_ms)

    # -- how jobs live ---------------------------------------------------------------------------------

    def _run(self, job: Running) -> None:
        job.state, job.since_ms = "RUNNING", self.now
        job.iterations = max(1, math.floor((job.chain.work - job.done) / job.chain.solo + 0.5))
        job.workers = dict.fromkeys(job.gpus, "forward")

    def _stop_running(self, job: Running) -> None:
        job.run_ms += self.now - job.since_ms
        if job.transfer == "under way":
            self.freed |= job.nodes
        job.transfer = "none"
        job.workers = dict.fromkeys(job.gpus, "over")
        for gpu in job.gpus:
            if (task := self.task[gpu]) is not None and task[0] is job:
                self.task[gpu] = None

    def _let_go(self, job: Running) -> None:
        job.held_gpu_ms += len(job.gpus) * (self.now - job.held_since_ms)
        job.gpus = ()

    def _wait(self, job: Running) -> None:
        self._let_go(job)
        job.state = "PENDING"

    def _end_iteration(self, job: Running) -> None:
        job.iterations -= 1
        if job.iterations > 0:
            job.done += job.chain.solo
            job.workers = dict.fromkeys(job.gpus, "forward")
            return
        self._stop_running(job)
        self._let_go(job)
        job.done = job.chain.work
        job.state, job.end_ms = "COMPLETED", self.now
        self.happened.add("FINISH")

    def _begin_transfer(self, job: Running) -> None:
        job.transfer = "under way"
        job.left, job.rate, job.sharers = job.chain.wire, 0.0, 0
        job.rated_ms, job.transfer_end_ms = self.now + math.ceil(self.ground.latency), -1

    # -- an instant ------------------------------------------------------------------------------------

    def _cancels(self) -> None:
        for row in sorted(row for time_ms, row in self.ground.cancels if time_ms == self.now):
            self.happened.add("CANCEL")
            job = self.jobs[row]
            if job.state not in ("COMPLETED", "CANCELLED"):
                if job.state == "RUNNING":
                    self._stop_running(job)
                self._let_go(job)
                job.state, job.end_ms = "CANCELLED", self.now

    def _changes(self) -> None:
        for job in self.jobs:
            if job.state == "STOPPING" and job.changes_ms == self.now:
                self._wait(job)
                self.happened.add("STOPPED")
            elif job.state == "STARTING" and job.changes_ms == self.now:
                self._run(job)
                self.happened.add("STARTED")
            elif job.state == "FUTURE" and job.chain.submit_ms == self.now:
                job.state = "PENDING"
                self.happened.add("SUBMIT")
        if self.now == self.wake_ms:
            self.wake_ms = NEVER_MS
            self.happened.add("TIMER")

    def _steps(self) -> None:
        for gpu, task in self.task.items():
            if task is not None and task[1] == self.now:
                job = task[0]
                self.task[gpu] = None
                forward = job.workers[gpu] == "in forward"
                job.workers[gpu] = "backward" if forward and job.chain.bw > 0 else "over"
        for job in self.having("RUNNING"):
            if job.transfer == "under way" and job.transfer_end_ms == self.now:
                job.transfer = "none"
                job.comm_ms += self.now - job.ready_ms
                self.freed |= job.nodes
                self._end_iteration(job)
            elif job.transfer == "none" and set(job.workers.values()) == {"over"}:
                if len(job.nodes) > 1 and job.chain.wire > 0:
                    job.transfer, job.ready_ms = "ready", self.now
                else:
                    self._end_iteration(job)

    def _transfers(self) -> None:
        ready = [job for job in self.jobs if job.transfer == "ready"]
        busy = [job for job in self.jobs if job.transfer != "none"]
        alone = [job for job in ready if not any(job.nodes & other.nodes for other in busy if other is not job)]
        for job in alone if self.ground.admits else ready:
            self._begin_transfer(job)
        for job in ready:
            if job.transfer == "ready":
                job.transfer = "waits"
                self.happened.add("TRANSFER")
        if any(job.nodes & self.freed for job in self.waiting()):
            self.happened.add("TRANSFER")

    def _tasks(self) -> None:
        for gpu, task in self.task.items():
            if task is None:
                ready = [job for job in self.on(gpu) if job.workers[gpu] in ("forward", "backward")]
                if ready:
                    job = min(ready, key=lambda job: (job.service(), job.row))
                    self.task[gpu] = (job, self.now + self.takes(job, job.workers[gpu]))
                    job.workers[gpu] = "in " + job.workers[gpu]

    def takes(self, job: Running, worker: str) -> int:
        return job.chain.fw if worker == "forward" else job.chain.bw

    def _rates(self) -> None:
        for job in self.jobs:
            if job.transfer == "under way":
                k = max(len(self.under_way(node)) for node in job.nodes)
                if k != job.sharers:
                    job.left = job.left_at(self.now)
                    job.rated_ms = max(job.rated_ms, self.now)
                    job.rate = math.floor(2**30 / (k + (k - 1) * self.ground.penalty) + 0.5) / 2**30
                    job.transfer_end_ms = job.rated_ms + math.ceil(job.left / job.rate)
                    job.sharers = k

    def run(self) -> "World":
        last_ms = max((time_ms for time_ms, _ in self.ground.cancels), default=0)
        ended = ("COMPLETED", "CANCELLED")
        while self.now <= last_ms or self.wake_ms < NEVER_MS or any(job.state not in ended for job in self.jobs):
            self.happened, self.freed = set(), set()
            self._steps()
            self._cancels()
            self._changes()
            self._transfers()
            if self.happened:
                self.passes.append(self.now)
                self.decide(self)
            self._tasks()
            self._rates()
            self.now += 1
            assert self.now < LATEST_MS
        return self


# -- policies ------------------------------------------------------------------------------------------


def place_waiting(world: World, kappa: int, choice: str) -> None:
    if world.happened == {"TRANSFER"}:
        return
    load = {gpu: sum(job.workload() for job in world.on(gpu)) for gpu in world.task}
    for job in sorted(world.having("PENDING"), key=lambda job: (job.service(), job.row)):
        size = world.ground.nodes
        mean = [sum(load[n, g] for g in range(size[n])) / size[n] for n in range(len(size))]

        def rank(gpu: Gpu, job: Running = job, mean: list[float] = mean) -> tuple[float, ...]:
            if choice == "first-fit":
                return gpu
            if choice == "lwf" and job.chain.gpus > kappa:
                return (mean[gpu[0]], gpu[0], load[gpu], gpu[1])
            return (load[gpu], *gpu)

        roomy = sorted((gpu for gpu in world.task if world.has_room(job, gpu)), key=rank)
        gpus = first_in_shape(job.chain, roomy) if job.chain.per_node else roomy[: job.chain.gpus]
        if len(gpus) == job.chain.gpus:
            world.start(job, tuple(gpus))
            for gpu in gpus:
                load[gpu] += job.workload()


def first_in_shape(chain: Chain, gpus: list[Gpu]) -> list[Gpu]:
    """Those of the first nodes of which as many come up as each of the job's nodes gives; fewer if there are too few
    such nodes.
    """
    of_node: dict[int, list[Gpu]] = {}
    whole: list[list[Gpu]] = []
    for gpu in gpus:
        own = of_node.setdefault(gpu[0], [])
        own.append(gpu)
        if len(own) == chain.per_node:
            whole.append(list(own))
    return [gpu for own in whole[: chain.gpus // chain.per_node] for gpu in own]


def in_order(world: World) -> list[Running]:
    return sorted(world.waiting(), key=lambda job: (job.service(), job.row))


def srsf(world: World, transfers: int) -> None:
    for job in in_order(world):
        if all(len(world.under_way(node)) < transfers for node in job.nodes):
            world.admit(job)


def ada_dual(world: World) -> None:
    threshold = 1 / (2 * (1 + world.ground.penalty))
    for job in in_order(world):
        olds = [world.under_way(node) for node in job.nodes]
        if all(len(old) <= 1 and all(job.chain.wire < threshold * o.left_at(world.now) for o in old) for old in olds):
            world.admit(job)
