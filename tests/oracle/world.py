"""Sections 1, 5 and 6: the state of the cluster and its jobs, and how events and actions change it."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from .history import History
from .model import Gpu, Job, LogEntry, Node, Place, as_masks
from .placement import alternatives, every_gpu, locality, place

NOTHING: Place = frozenset()
OVERRUN_AT_LEAST_MS = 60_000


def to_ms(seconds: float) -> int:
    return round(1000 * seconds)


@dataclass
class Rules:
    """What does not change during a run. Times in ms, thresholds in GPU-ms."""

    placement: str
    rate: Callable[[Job, int], float]
    queue_limits: dict[str, int]
    start_ms: int
    stop_ms: int
    restore_ms: int
    lost_ms: int
    checkpoint_every_ms: int
    loses_since_checkpoint: bool
    reestimates: bool
    """Overruns are events (the policy is `easy`)."""
    margin_ms: int
    thresholds_gpu_ms: list[int]
    promote_knob: float
    rate_on: Callable[[Job, Place], float] | None = None
    """In the place of `rate`, where more than the locality counts."""
    knows_work: bool = True
    """The policy is told an estimate of each job's work."""


@dataclass
class Life:
    """One job as it lives. `done` counts up to the moment it last began to run; `work_done` has the rest."""

    row: int
    job: Job
    state: str = "FUTURE"
    place: Place = NOTHING
    rate: float = 1.0
    done: float = 0.0
    restored: float = 0.0
    """The work done when it last began to run."""
    has_run: bool = False
    held_since_ms: int = 0
    running_from_ms: int = 0
    """When it (last) began to run; while STARTING, when it will."""
    finish_ms: int = 0
    stopped_ms: int = 0
    pending_since_ms: int = 0
    estimated_end_ms: int = 0
    executed_ms: int = 0
    """Wall time RUNNING in finished runs since the last promotion."""
    first_start_ms: int | None = None
    end_ms: int | None = None
    run_ms: int = 0
    preemptions: int = 0
    lost_ms: float = 0.0
    reached: float = 0.0
    """The most that was done whenever some of it was lost."""
    held_gpu_ms: int = 0


@dataclass
class World:
    nodes: Sequence[Node]
    lives: list[Life]
    script: list[tuple[int, str, int]]
    """Node events and cancellations still to come."""
    rules: Rules
    now: int = 0
    node_state: list[str] = field(default_factory=list)
    log: list[LogEntry] = field(default_factory=list)
    history: History | None = None
    """Estimates are from the jobs that have finished."""
    claims: list[tuple[Life, Place]] = field(default_factory=list)
    """Places of which some GPUs are still to be given up by jobs that stop, in the order in which they were claimed."""
    tried: set[int] = field(default_factory=set)
    """Rows of jobs with a claim that have a place on free GPUs as the cycle begins."""

    # -- what can be asked ------------------------------------------------------------------------------

    def having(self, *states: str) -> list[Life]:
        """The jobs in these states, by row."""
        return [life for life in self.lives if life.state in states]

    def up(self, gpus: set[Gpu] | Place) -> set[Gpu]:
        """Those of the GPUs whose node takes work."""
        return {gpu for gpu in gpus if self.node_state[gpu[0]] == "UP"}

    def free(self) -> set[Gpu]:
        return self.up(every_gpu(self.nodes) - self.taken() - self.claimed())

    def taken(self) -> set[Gpu]:
        return {gpu for life in self.lives for gpu in life.place}

    def claimed(self) -> set[Gpu]:
        return {gpu for _, place in self.claims for gpu in place}

    def stopping(self) -> set[Gpu]:
        """What can be claimed of jobs that stop."""
        return self.up({gpu for life in self.having("STOPPING") for gpu in life.place}) - self.claimed()

    def find_place(self, life: Life, free: set[Gpu]) -> Place | None:
        return place(self.nodes, life.job, free, self.rules.placement)

    def waiting(self) -> list[Life]:
        """The jobs that wait and claim no place, or are tried all the same in this cycle."""
        claimants = {life.row for life, _ in self.claims} - self.tried
        return [life for life in self.having("PENDING") if life.row not in claimants]

    def eligible_nodes(self, life: Life) -> set[int]:
        """Section 2: under any of its alternatives."""
        return {node for nodes in alternatives(self.nodes, life.job) for node in nodes}

    def has_room(self, life: Life, chosen: Place) -> bool:
        """Whether the job may be started there."""
        return chosen <= self.free()

    def rate_on(self, life: Life, chosen: Place) -> float:
        if self.rules.rate_on is not None:
            return self.rules.rate_on(life.job, chosen)
        return self.rules.rate(life.job, locality(self.nodes, chosen))

    def elapsed(self, life: Life) -> int:
        return self.now - life.running_from_ms if life.state == "RUNNING" else 0

    def work_done(self, life: Life) -> float:
        return life.done + math.floor(life.rate * self.elapsed(life) * 1024.0) / 1024.0

    def delay_ms(self, life: Life) -> int:
        """How long its start takes."""
        return self.rules.start_ms + (self.rules.restore_ms if life.has_run else 0)

    def protected_until_ms(self, life: Life, began_ms: int, quantum_ms: int) -> int:
        """When this running job, which may not be preempted yet, will have had its quantum, or done twice what a
        preemption loses, if it will have done no more than that by then.
        """
        end_ms, done, lost_ms = began_ms + quantum_ms, self.work_done(life) - life.restored, self.rules.lost_ms
        first_ms = self.rules.checkpoint_every_ms if self.rules.loses_since_checkpoint else 0
        if self.now <= end_ms and done + life.rate * (end_ms - self.now) > lost_ms + first_ms:
            return end_ms
        return max(end_ms, self.now + math.ceil((2 * lost_ms + first_ms - done) / life.rate))

    def remaining(self, life: Life) -> float:
        return life.job.told_ms - self.work_done(life)

    def executed(self, life: Life) -> int:
        return life.executed_ms + self.elapsed(life)

    def attained(self, life: Life) -> int:
        """GPU-ms since the last promotion."""
        return life.job.gpus * self.executed(life)

    def level(self, life: Life) -> int:
        return sum(threshold <= self.attained(life) for threshold in self.rules.thresholds_gpu_ms)

    def queue_held(self, queue: str) -> int:
        """With what is claimed."""
        there = [(life, life.place) for life in self.lives] + self.claims
        return sum(len(place) for life, place in there if life.job.queue == queue)

    # -- when things are due ----------------------------------------------------------------------------

    def next_event_ms(self) -> int | None:
        due = [time_ms for time_ms, _, _ in self.script]
        for life in self.lives:
            due.extend(self.due(life))
        return min(due, default=None)

    def due(self, life: Life) -> Iterator[int]:
        """The instants of the events that this job has before it as things stand."""
        if life.state == "FUTURE":
            yield life.job.submit_ms
        elif life.state == "STARTING":
            yield life.running_from_ms
        elif life.state == "STOPPING":
            yield life.stopped_ms
        elif life.state == "PENDING" and self.can_be_promoted(life):
            yield self.promotion_ms(life)
        elif life.state == "RUNNING":
            yield life.finish_ms
            yield from self.demotions_ms(life)
            if self.rules.reestimates:
                yield max(self.now, life.estimated_end_ms)

    def demotions_ms(self, life: Life) -> list[int]:
        attained = self.attained(life)
        ahead = [threshold - attained for threshold in self.rules.thresholds_gpu_ms if threshold > attained]
        return [self.now + -(-gpu_ms // life.job.gpus) for gpu_ms in ahead]

    def can_be_promoted(self, life: Life) -> bool:
        return self.rules.promote_knob > 0 and self.level(life) > 0

    def promotion_ms(self, life: Life) -> int:
        return life.pending_since_ms + math.ceil(self.rules.promote_knob * life.executed_ms)

    # -- events -----------------------------------------------------------------------------------------

    def apply_events(self) -> None:
        """The events of this instant: always the first in the order of kinds of what is due, until nothing is."""
        while self.apply_first_due():
            pass

    def apply_first_due(self) -> bool:
        """Apply one event that is due now, or the node events; False if nothing is due."""
        for life in self.having("RUNNING"):
            if life.finish_ms == self.now:
                self.finish(life)
                return True
        if self.apply_cancel():
            return True
        for life in self.having("STOPPING"):
            if life.stopped_ms == self.now:
                self.become_pending(life)
                return True
        if any(time_ms == self.now for time_ms, _, _ in self.script):
            self.apply_script()
            return True
        for life in self.having("STARTING"):
            if life.running_from_ms == self.now:
                self.begin_to_run(life)
                return True
        if self.apply_level() or self.apply_timer():
            return True
        for life in self.having("FUTURE"):
            if life.job.submit_ms == self.now:
                self.become_pending(life)
                return True
        return False

    def apply_level(self) -> bool:
        for life in self.having("RUNNING"):
            if self.rules.reestimates and life.estimated_end_ms <= self.now:
                longer = max(OVERRUN_AT_LEAST_MS, -(-self.elapsed(life) // 10))
                life.estimated_end_ms = self.now + longer
                return True
        return False

    def apply_timer(self) -> bool:
        for life in self.having("PENDING"):
            if self.can_be_promoted(life) and self.promotion_ms(life) <= self.now:
                life.executed_ms = 0
                return True
        return False

    def apply_cancel(self) -> bool:
        due = [entry for entry in self.script if entry[:2] == (self.now, "CANCEL")]
        if due:
            first = min(due)
            self.script.remove(first)
            self.cancel(self.lives[first[2]])
        return bool(due)

    def apply_script(self) -> None:
        for kind in ("NODE_DOWN", "NODE_DRAIN", "NODE_UP"):
            for node in sorted(node for time_ms, what, node in self.script if (time_ms, what) == (self.now, kind)):
                self.node_state[node] = kind.removeprefix("NODE_")
                if kind != "NODE_UP":
                    self.end_claims_on(node)
                if kind == "NODE_DOWN":
                    self.fail_jobs_of(node)
        self.script = [entry for entry in self.script if entry[0] > self.now]

    def end_claims_on(self, node: int) -> None:
        for life, chosen in list(self.claims):
            if any(at == node for at, _ in chosen):
                self.end_claim(life)

    def fail_jobs_of(self, node: int) -> None:
        for life in self.having("STARTING", "RUNNING", "STOPPING"):
            if any(at == node for at, _ in life.place):
                ran = life.state == "RUNNING"
                self.halt(life)
                if ran and self.rules.checkpoint_every_ms > 0:
                    self.lose(life, self.since_checkpoint(life))
                self.become_pending(life)

    def finish(self, life: Life) -> None:
        self.halt(life)
        self.free_gpus(life)
        life.state = "COMPLETED"
        life.end_ms = self.now
        if self.history is not None:
            self.history.learn(life.row, life.job)

    def cancel(self, life: Life) -> None:
        if life.state not in ("COMPLETED", "CANCELLED"):
            self.halt(life)
            self.free_gpus(life)
            self.end_claim(life)
            life.state = "CANCELLED"
            life.end_ms = self.now

    def end_claim(self, life: Life) -> None:
        """If it has one."""
        self.claims = [(claimant, chosen) for claimant, chosen in self.claims if claimant is not life]

    def foretell(self, life: Life) -> None:
        """Give a job that is being submitted its estimate."""
        if self.history is not None and life.row not in self.history.features:
            life.job = replace(life.job, estimate_ms=self.history.estimate_ms(life.row, life.job, self.now))

    def become_pending(self, life: Life) -> None:
        self.foretell(life)
        self.free_gpus(life)
        life.state = "PENDING"
        life.pending_since_ms = self.now

    def begin_to_run(self, life: Life) -> None:
        life.state = "RUNNING"
        life.has_run = True
        life.restored = life.done
        life.finish_ms = self.now + math.ceil((life.job.work_ms - life.done) / life.rate)

    def halt(self, life: Life) -> None:
        """Book the run that ends now, if the job is RUNNING."""
        elapsed = self.elapsed(life)
        life.run_ms += elapsed
        life.executed_ms += elapsed
        life.done += math.floor(life.rate * elapsed * 1024.0) / 1024.0
        life.running_from_ms = self.now

    def since_checkpoint(self, life: Life) -> float:
        """Work, once a job is halted or as it runs."""
        return (self.work_done(life) - life.restored) % self.rules.checkpoint_every_ms

    def lost_besides(self, life: Life) -> float:
        """Work that a preemption loses because the job writes no checkpoint first."""
        return self.since_checkpoint(life) if self.rules.loses_since_checkpoint else 0

    def lose(self, life: Life, work_ms: float) -> None:
        life.reached = max(life.reached, life.done)
        life.done -= work_ms
        life.lost_ms += work_ms

    def free_gpus(self, life: Life) -> None:
        life.held_gpu_ms += len(life.place) * (self.now - life.held_since_ms)
        life.place = NOTHING

    def end_of_instant(self) -> None:
        """What happens after the pass."""

    # -- actions ----------------------------------------------------------------------------------------

    def claim(self, life: Life, chosen: Place) -> None:
        assert life.state == "PENDING" and chosen <= self.free() | self.stopping()
        self.claims.append((life, chosen))

    def end_free_claims(self) -> None:
        """A cycle begins."""
        for life, chosen in list(self.claims):
            if not chosen & self.taken():
                self.end_claim(life)
        self.tried = {life.row for life, _ in self.claims if self.find_anywhere(life, self.free()) is not None}

    def has_claim(self, life: Life) -> bool:
        return any(claimant is life for claimant, _ in self.claims)

    def find_anywhere(self, life: Life, free: set[Gpu]) -> Place | None:
        """However loose the place."""
        return self.find_place(life, free)

    def start(self, life: Life, chosen: Place) -> None:
        assert life.state == "PENDING" and len(chosen) == life.job.gpus and self.has_room(life, chosen)
        self.end_claim(life)
        self.log.append((self.now, "START", life.row, as_masks(chosen)))
        life.place = chosen
        life.held_since_ms = self.now
        life.rate = self.rate_on(life, chosen)
        if life.first_start_ms is None:
            life.first_start_ms = self.now
        life.running_from_ms = self.now + self.delay_ms(life)
        life.estimated_end_ms = life.running_from_ms + math.ceil(max(0, life.job.told_ms - life.done) / life.rate)
        life.state = "STARTING"
        if life.running_from_ms == self.now:
            self.begin_to_run(life)

    def preempt(self, life: Life) -> None:
        assert life.state == "RUNNING"
        self.log.append((self.now, "PREEMPT", life.row, as_masks(life.place)))
        self.halt(life)
        self.lose(life, min(life.done, self.rules.lost_ms + self.lost_besides(life)))
        life.preemptions += 1
        if self.rules.stop_ms == 0:
            self.become_pending(life)
        else:
            life.state = "STOPPING"
            life.stopped_ms = self.now + self.rules.stop_ms
