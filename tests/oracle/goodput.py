"""Section 11: elastic jobs, whose rate is the most goodput on the GPUs that they hold, by tenths of their work.

Decisions are told: the search of `pollux` is its own. What follows from them is worked out here, and that they keep
to what always holds.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, exp, log
from typing import Any

from .changing import ChangingWorld
from .model import Job, Place
from .placement import alternatives, locality
from .sharing import SharedEntry, SharedLife
from .speeds import Felt, Speeds, overlap, rounded
from .world import Life, World

TENTHS, BATCHES, CELLS = 10, 50, 100


@dataclass(frozen=True)
class Noise:
    initial: int
    limit: int
    tenths: tuple[float, ...]

    def scale(self, progress: float) -> float:
        """Its logarithm is straight between the middles of tenths of progress."""
        at = progress * len(self.tenths) - 0.5
        if at <= 0:
            return self.tenths[0]
        if at >= len(self.tenths) - 1:
            return self.tenths[-1]
        below = int(at)
        low, high = log(self.tenths[below]), log(self.tenths[below + 1])
        return exp(low + (at - below) * (high - low))

    def by_work(self, batch: int) -> list[float]:
        """Amid each tenth of the iterations of a training with this batch."""
        reached = [0.0]
        for cell in range(CELLS):
            scale = self.scale((cell + 0.5) / CELLS)
            reached.append(reached[-1] + (scale + batch) / (scale + self.initial))
        return [self.scale(progress_at(reached, (tenth + 0.5) / TENTHS * reached[-1])) for tenth in range(TENTHS)]


def progress_at(reached: Sequence[float], iterations: float) -> float:
    cell = min(bisect_right(reached, iterations), CELLS) - 1
    return (cell + (iterations - reached[cell]) / (reached[cell + 1] - reached[cell])) / CELLS


@dataclass(frozen=True)
class Goodput:
    speeds: Speeds
    noises: Mapping[str, Noise]
    known: dict[Any, list[float]] = field(default_factory=dict)

    def is_elastic(self, job: Job) -> bool:
        return job.model in self.noises

    def rates(self, job: Job, gpu_type: str, gpus: int, level: int) -> list[float]:
        """By tenth; rounded."""
        key = job.model, job.samples, job.gpus, gpu_type, gpus, level
        if key not in self.known:
            self.known[key] = self.worked_out(job, gpu_type, gpus, level)
        return self.known[key]

    def worked_out(self, job: Job, gpu_type: str, gpus: int, level: int) -> list[float]:
        speeds, noise = self.speeds, self.noises[job.model]
        own = job.gpus * speeds.samples(job)
        reference_s = speeds.iteration_s(job, gpu_type, speeds.best_shape(job, gpu_type), 1)
        batches = [
            (samples, samples / self.batch_s(job, gpu_type, gpus, level, per_pass, passes))
            for samples, per_pass, passes in self.choices(job, gpu_type, gpus)
        ]
        return [
            rounded(max(fast * (phi + own) / (phi + samples) for samples, fast in batches) / own * reference_s)
            for phi in noise.by_work(own)
        ]

    def longer(self, job: Job, gpu_type: str, gpus: int, level: int, tenth: int, psi: float) -> float:
        """How many times as long the iteration of the batch with the most goodput takes where its computing takes
        `psi` times as long (section 14).
        """
        own = job.gpus * self.speeds.samples(job)
        phi = self.noises[job.model].by_work(own)[tenth]
        _, per_pass, passes = max(
            self.choices(job, gpu_type, gpus),
            key=lambda one: one[0] / self.batch_s(job, gpu_type, gpus, level, *one[1:]) / (phi + one[0]),
        )
        slow, alone = (self.batch_s(job, gpu_type, gpus, level, per_pass, passes, times) for times in (psi, 1.0))
        return slow / alone

    def choices(self, job: Job, gpu_type: str, gpus: int) -> list[tuple[int, int, int]]:
        """(samples, those of one pass on one GPU, passes)"""
        noise, model = self.noises[job.model], self.speeds.models[job.model]
        own = job.gpus * self.speeds.samples(job)
        least, most = min(noise.initial, own), max(noise.limit, own)
        fits = int((self.speeds.memory[gpu_type] - model.fixed_bytes) / max(model.bytes_per_sample, 1))
        room = max(self.speeds.samples(job), fits)
        wanted = [least * (most / least) ** (i / (BATCHES - 1)) for i in range(BATCHES)] + [own]
        found = []
        for per_gpu in (batch / gpus for batch in wanted):
            passes = ceil(per_gpu / room - 1e-8)
            per_pass = ceil(per_gpu / passes - 1e-8)
            if gpus * per_pass * passes <= most:
                found.append((gpus * per_pass * passes, per_pass, passes))
        return found

    def batch_s(
        self, job: Job, gpu_type: str, gpus: int, level: int, per_pass: int, passes: int, psi: float = 1.0
    ) -> float:
        speeds, model = self.speeds, self.speeds.models[job.model]
        compute = model.compute[gpu_type]
        pass_s = psi * (compute.alpha_s + compute.beta_s * per_pass)
        shape = speeds.shape_at(gpus, gpu_type, level)
        wire_s = sum(speeds.all_reduce_s(model.gradient_bytes, shape, speeds.networks[gpu_type])) if gpus > 1 else 0.0
        return (passes - 1) * pass_s + overlap(pass_s, wire_s, compute.delta)


@dataclass
class GoodputWorld(ChangingWorld):
    goodput: Goodput = field(kw_only=True)
    interval_ms: int = 60_000
    told: list[SharedEntry] = field(default_factory=list)
    """What the other program decided, and is yet to be done here."""
    stage: dict[int, int] = field(default_factory=dict)
    """By row, the tenth of its work that a job is in."""
    turns_ms: dict[int, int] = field(default_factory=dict)
    """When it comes to the next."""
    most: dict[int, int] = field(default_factory=dict)
    """GPUs that it ever had."""

    def is_elastic(self, life: Life) -> bool:
        return self.goodput.is_elastic(life.job)

    def rate_on(self, life: Life, chosen: Place) -> float:
        if not self.is_elastic(life):
            return super().rate_on(life, chosen)
        gpu_type = self.speeds.type_of(min(chosen))
        level = locality(self.nodes, chosen)
        return self.goodput.rates(life.job, gpu_type, len(chosen), level)[self.stage.get(life.row, 0)]

    def end_of_instant(self) -> None:
        self.just_started.clear()
        for life in self.lives:
            if life.state == "RUNNING":
                rate = self.slowed_rate(life)
                if rate != life.rate:
                    self.halt(life)
                    life.rate = rate
                    life.finish_ms = self.now + ceil((life.job.work_ms - life.done) / rate)
                    self.count_turn(life)

    def slowed_rate(self, life: SharedLife) -> float:
        """By the jobs on its nodes."""
        psi = self.psi(life) if self.neighbours else 1.0
        if psi == 1.0:
            return self.rate_on(life, life.place)
        if not self.is_elastic(life):
            return rounded(self.speeds.rate(life.job, life.place, life.steps, Felt(computing=psi)))
        gpu_type, level = self.speeds.type_of(min(life.place)), locality(self.nodes, life.place)
        tenth = self.stage.get(life.row, 0)
        longer = self.goodput.longer(life.job, gpu_type, len(life.place), level, tenth, psi)
        return rounded(self.rate_on(life, life.place) / longer)

    # -- tenths ----------------------------------------------------------------------------------------

    def count_turn(self, life: Life) -> None:
        stage = self.stage.get(life.row, 0)
        self.turns_ms.pop(life.row, None)
        if self.is_elastic(life) and stage < TENTHS - 1:
            left = life.job.work_ms * ((stage + 1) / TENTHS) - self.work_done(life)
            self.turns_ms[life.row] = self.now + ceil(max(0.0, left) / life.rate)

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        if life.state == "RUNNING":
            self.count_turn(life)

    def go_on(self, life: SharedLife) -> None:
        super().go_on(life)
        self.count_turn(life)

    def due(self, life: Life) -> Any:
        yield from super().due(life)
        if life.state == "RUNNING" and life.row in self.turns_ms:
            yield max(self.now, self.turns_ms[life.row])

    def apply_first_due(self) -> bool:
        for life in self.having("RUNNING"):
            at = self.turns_ms.get(life.row)
            if at is not None and at <= self.now and at < life.finish_ms:
                self.stage[life.row] = self.stage.get(life.row, 0) + 1
                self.count_turn(life)
                return True
        return super().apply_first_due()

    # -- decisions -------------------------------------------------------------------------------------

    def next_event_ms(self) -> int | None:
        at = [entry[0] for entry in self.told[:1]]
        due = [at_ms for at_ms in (super().next_event_ms(), *at) if at_ms is not None]
        return min(due, default=None)

    def may_have(self, life: SharedLife, chosen: Place, steps: int) -> bool:
        """As many as it asks for, or, if it is elastic, up to twice as many as it ever had, placed as plans are."""
        if not self.is_elastic(life):
            return super().may_have(life, chosen, steps)
        eligible = any(all(node in nodes for node, _ in chosen) for nodes in alternatives(self.nodes, life.job))
        few = 1 <= len(chosen) <= max(1, 2 * self.most.get(life.row, 0))
        fits = chosen <= self.free() | self.up(life.place)
        return eligible and few and fits and self.is_gang(life, chosen)

    def is_gang(self, life: SharedLife, chosen: Place) -> bool:
        """On one node, or wholly on nodes of the largest eligible size of one type."""
        nodes = {node for node, _ in chosen}
        if len(nodes) == 1:
            return True
        types = {self.nodes[node].gpu_type for node in nodes}
        every = {node for eligible in alternatives(self.nodes, life.job) for node in eligible}
        size = max(self.nodes[node].gpus for node in every if self.nodes[node].gpu_type in types)
        whole = all(self.nodes[node].gpus == size for node in nodes) and len(chosen) == size * len(nodes)
        return len(types) == 1 and whole

    def start(self, life: Life, chosen: Place, steps: int = 1) -> None:
        if not self.is_elastic(life):
            super().start(life, chosen, steps)
            return
        assert isinstance(life, SharedLife) and life.state == "PENDING" and self.may_have(life, chosen, 1)
        self.most[life.row] = max(self.most.get(life.row, 0), len(chosen))
        self.started(life, chosen)

    def started(self, life: SharedLife, chosen: Place) -> None:
        """As `World.start`, which wants as many GPUs as were asked for."""
        life.steps, life.last_place = 1, chosen
        self.just_started.add(life.row)
        self.note("START", life, 1, chosen)
        life.place, life.held_since_ms, life.rate = chosen, self.now, self.rate_on(life, chosen)
        if life.first_start_ms is None:
            life.first_start_ms = self.now
        life.running_from_ms = self.now + self.delay_ms(life)
        life.state = "STARTING"
        if life.running_from_ms == self.now:
            self.begin_to_run(life)

    def resize(self, life: SharedLife, chosen: Place) -> None:
        super().resize(life, chosen)
        self.most[life.row] = max(self.most.get(life.row, 0), len(chosen))


def follow(world: World) -> None:
    """Do what the other program decided at this pass, and see that it may."""
    assert isinstance(world, GoodputWorld)
    while world.told and world.told[0][0] == world.now and may_be_done(world, world.told[0]):
        _, verb, row, masks, _ = world.told.pop(0)
        life, chosen = world.lives[row], place_of(masks)
        assert world.now % world.interval_ms == 0, "a change between rounds"
        if verb == "PREEMPT":
            assert world.is_elastic(life) and world.may_preempt(life)
            world.preempt(life)
        elif verb == "RESIZE":
            assert world.is_elastic(life)
            world.resize(life, chosen)
        else:
            world.start(life, chosen)
        check_limits(world)


def may_be_done(world: GoodputWorld, entry: SharedEntry) -> bool:
    """Now; or else in a later pass of the instant."""
    _, verb, row, masks, _ = entry
    life, chosen = world.lives[row], place_of(masks)
    if verb == "START":
        return life.state == "PENDING" and world.may_have(life, chosen, 1)
    return world.may_preempt(life) and (verb == "PREEMPT" or world.may_resize(life, chosen))


def place_of(masks: Sequence[tuple[int, int]]) -> Place:
    return frozenset((node, gpu) for node, mask in masks for gpu in range(mask.bit_length()) if mask >> gpu & 1)


def check_limits(world: GoodputWorld) -> None:
    for queue, limit in world.rules.queue_limits.items():
        assert world.queue_held(queue) <= limit, f"at {world.now} ms queue {queue} is above its limit"
    wide = [{node for node, _ in life.place} for life in world.lives if world.is_elastic(life)]
    gangs = [node for nodes in wide if len(nodes) > 1 for node in nodes]
    assert len(gangs) == len(set(gangs)), f"at {world.now} ms two gangs of several nodes share one"
