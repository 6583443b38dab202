"""A policy that starts, preempts, rebatches and resizes at random, and what the oracle makes of all it tried."""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.types import Reason
from tests.oracle.changing import ChangingWorld
from tests.oracle.model import Gpu, Job
from tests.oracle.placement import alternatives
from tests.oracle.shared_instances import SharedInstance

STEPS = (1, 1, 1, 2, 4, 8, 64)


@dataclass(frozen=True)
class Try:
    """What was tried, and whether it was allowed."""

    verb: str
    row: int
    gpus: tuple[Gpu, ...] | None = None
    """None: where the configured placement puts it."""
    steps: int = 1
    allowed: bool = True


@dataclass
class Whims:
    """Notes all that it tries, pass by pass."""

    instance: SharedInstance
    scale_ms: int
    """It wants to be called again after so long at most."""
    name: str = "whims"
    needs: str = "none"
    passes: list[tuple[int, list[Try], int | None]] = field(default_factory=list)
    """(ms, what it tried, when it asked to be woken)"""

    def __post_init__(self) -> None:
        self.draw = random.Random(self.instance.seed)

    def decide(self, view: Any) -> None:
        tried: list[Try] = []
        for slot in view.running.tolist():
            self.change(view, slot, int(view.jobs["row"][slot]), tried)
        for slot in view.pending.tolist():
            if self.draw.random() < 0.7:
                self.start(view, slot, int(view.jobs["row"][slot]), tried)
        for slot in view.running.tolist():
            if self.draw.random() < 0.2:  # of those started just now, too
                self.change(view, slot, int(view.jobs["row"][slot]), tried)
        wake_ms = None
        if len(view.pending) or len(view.running):
            at_ms = view.now_ms + self.draw.randint(1, self.scale_ms)
            view.wake_at(at_ms / 1000)
            wake_ms = int(np.ceil(at_ms / 1000 * 1000))  # as the view understands it
        self.passes.append((view.now_ms, tried, wake_ms))

    def start(self, view: Any, slot: int, row: int, tried: list[Try]) -> None:
        steps = self.some_steps(row)
        if self.draw.random() < 0.2:
            tried.append(Try("start", row, None, steps, view.start(slot, None, steps) == Reason.OK))
            return
        room = self.room(view, slot, row, steps, tried)
        gpus = self.some_gpus(row, room)
        tried.append(Try("start", row, gpus, steps, view.start(slot, gpus, steps) == Reason.OK))

    def some_steps(self, row: int) -> int:
        """Mostly such as it may take."""
        if self.draw.random() < 0.1:
            return self.draw.choice(STEPS)
        return self.draw.choice(self.instance.speeds.steps(self.instance.jobs[row]))

    def room(self, view: Any, slot: int, row: int, steps: int, tried: list[Try]) -> list[Gpu]:
        if steps not in self.instance.speeds.steps(self.instance.jobs[row]):
            return []
        found = sorted(view.with_room(slot, steps))
        tried.append(Try("room", row, tuple(found), steps))
        return found

    def some_gpus(self, row: int, likely: list[Gpu]) -> tuple[Gpu, ...]:
        """As many as it asks for; mostly of the likely ones, mostly of types it may use, rather crowded than not."""
        nodes, job = self.instance.nodes, self.instance.jobs[row]
        every = [(n, g) for n, node in enumerate(nodes) for g in range(node.gpus)]
        eligible = self.draw.choice(alternatives(nodes, job))
        if self.draw.random() < 0.9:
            every = [gpu for gpu in every if gpu[0] in eligible]
        fitting = [gpu for gpu in every if gpu in likely]
        if len(fitting) >= job.gpus and self.draw.random() < 0.95:
            every = fitting
        if job.per_node and self.draw.random() < 0.8:
            return self.in_shape(job, every)
        if self.draw.random() < 0.5:
            return tuple(every[: job.gpus])
        return tuple(self.draw.sample(every, min(len(every), job.gpus)))

    def in_shape(self, job: Job, every: list[Gpu]) -> tuple[Gpu, ...]:
        """On so many nodes that have as many of these GPUs as each is to give, or on too few."""
        of_node = {n: [gpu for gpu in every if gpu[0] == n] for n in range(len(self.instance.nodes))}
        roomy = [n for n, own in of_node.items() if len(own) >= job.per_node]
        chosen = self.draw.sample(roomy, min(len(roomy), job.gpus // job.per_node))
        return tuple(gpu for n in chosen for gpu in self.draw.sample(of_node[n], job.per_node))

    def change(self, view: Any, slot: int, row: int, tried: list[Try]) -> None:
        dice = self.draw.random()
        if dice < 0.04:
            tried.append(Try("preempt", row, allowed=view.preempt(slot) == Reason.OK))
        elif dice < 0.2:
            steps = self.some_steps(row)
            tried.append(Try("rebatch", row, None, steps, view.rebatch(slot, steps) == Reason.OK))
        elif dice < 0.4:
            gpus = self.other_gpus(view, slot, row)
            tried.append(Try("resize", row, gpus, allowed=view.resize(slot, gpus) == Reason.OK))

    def other_gpus(self, view: Any, slot: int, row: int) -> tuple[Gpu, ...]:
        """Some of its own, and others."""
        nodes = self.instance.nodes
        every = [(n, g) for n, node in enumerate(nodes) for g in range(node.gpus)]
        own = [gpu for gpu in every if slot in view.jobs_on(*gpu)]
        kept = self.draw.sample(own, self.draw.randint(0, len(own)))
        others = [gpu for gpu in self.some_gpus(row, every) if gpu not in kept]
        return tuple([*kept, *others][: len(own)])


def replay(whims: Whims, world: ChangingWorld) -> None:
    """Do what was done, and see that what was refused is not allowed."""
    assert whims.passes, f"a pass at {world.now} ms that the engine has not"
    now_ms, tried, wake_ms = whims.passes.pop(0)
    assert now_ms == world.now, f"the next pass of the engine is at {now_ms} ms, of the oracle at {world.now} ms"
    for number, what in enumerate(tried):
        said = do(world, what)
        assert said == what.allowed, f"at {now_ms} ms, {number}: the oracle says {said} to {what}"
    if wake_ms is not None:
        world.wake_at(wake_ms)


def do(world: ChangingWorld, what: Try) -> bool:
    """Do it if it is allowed; whether it is."""
    life, gpus = world.lives[what.row], frozenset(what.gpus or ())
    if what.verb == "room":
        found = world.gpus_with_room(life, what.steps)
        assert found == gpus, f"at {world.now} ms job {what.row} with {what.steps} steps has room on {sorted(found)}"
        return True
    if what.verb == "start":
        chosen = None if what.gpus is None else gpus
        if allowed := world.may_start(life, chosen, what.steps):
            place = chosen or world.find_place(life, world.free())
            assert place is not None
            world.start(life, place, what.steps)
    elif what.verb == "preempt":
        if allowed := world.may_preempt(life):
            world.preempt(life)
    elif what.verb == "rebatch":
        if allowed := world.may_rebatch(life, what.steps):
            world.rebatch(life, what.steps)
    elif allowed := world.may_resize(life, gpus):
        world.resize(life, gpus)
    return allowed
