"""A simulated cluster behind the protocol of a backend: starts and stops take time, and faults come to order.

It is written from ``docs/reference/semantics/starts-and-stops.md`` and knows nothing of the engine, so that both check
each other. Its clock is stepped by whoever owns it.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pointsman.cluster import Cluster
from pointsman.live.backends.facts import (
    AttemptFact,
    AttemptId,
    Exit,
    Launch,
    NodeFact,
    Observation,
    Parts,
    Phase,
    Refused,
    Stop,
    Unsure,
    gpus_of,
)
from pointsman.live.backends.protocol import Patience
from pointsman.types import NodeState

NEVER: Final = 1 << 62
Draw = Callable[[random.Random], int]
"""A delay, ms."""


def always(ms: int) -> Draw:
    """Draws the same delay each time."""
    return lambda _: ms


def exponential(mean_ms: float) -> Draw:
    """Delays of at least a millisecond, of this mean."""
    return lambda draw: 1 + int(draw.expovariate(1 / mean_ms))


@dataclass(frozen=True)
class Delays:
    """How long things take there."""

    start: Draw = field(default_factory=lambda: always(10_000))
    restore: Draw = field(default_factory=lambda: always(20_000))
    """More, for a job that has run before."""
    stop: Draw = field(default_factory=lambda: always(5_000))
    lost_ms: int = 0
    """Progress that a job loses when it is stopped."""


@dataclass(frozen=True)
class Faults:
    """How often, of once, something goes wrong."""

    refused: float = 0.0
    """A launch is refused."""
    unheard: float = 0.0
    """A request is not heard, and whoever made it is left unsure."""
    unanswered: float = 0.0
    """A request is carried out, and whoever made it is left unsure."""
    forgotten: float = 0.0
    """A launch that was accepted is forgotten."""
    failing_start: float = 0.0
    hidden: float = 0.0
    """An observation lacks an attempt, and says that it is not complete."""


@dataclass(frozen=True)
class Program:
    """What a job does."""

    work_ms: float
    exit: Exit = field(default_factory=lambda: Exit(0))
    """How it ends when its work is done."""
    never_starts: bool = False


@dataclass
class _Attempt:
    parts: Parts
    phase: Phase
    due_ms: int
    """When it leaves its phase."""
    since_ms: int = 0
    """When it began to run."""
    asked: bool = False
    exit: Exit | None = None
    fact: AttemptFact | None = None
    """What was last said of it, if that still holds."""


class Shadow:
    """Its own clock shows `now_ms`; `twice` names what had a GPU, or ran, beside another, which must never happen."""

    def __init__(
        self,
        cluster: Cluster,
        programs: Mapping[int, Program],
        delays: Delays | None = None,
        faults: Faults | None = None,
        seed: int = 0,
    ) -> None:
        self.cluster, self.programs = cluster, programs
        self.delays, self.faults = delays or Delays(), faults or Faults()
        self.patience = Patience()
        self.now_ms = 0
        self.twice: list[str] = []
        self.runs: dict[int, int] = {}
        """How often each job did all of its work."""
        self._draw = random.Random(seed)
        self._attempts: dict[AttemptId, _Attempt] = {}
        self._holders: dict[tuple[str, int], AttemptId] = {}
        """By node and GPU, of those that have not ended."""
        self._alive_of: dict[int, AttemptId] = {}
        """By job."""
        self._done_ms: dict[int, float] = {}
        self._nodes = {name: NodeState.UP for name in cluster.layout().node_names}

    # -- the protocol -------------------------------------------------------------------------------------

    def describe(self) -> Cluster:
        return self.cluster

    def observe(self) -> Observation:
        down = {name for name, state in self._nodes.items() if state == NodeState.DOWN}
        there = self._attempts.items()
        facts = [one.fact or self._fact(id_, one) for id_, one in there if not (down and _is_on(one, down))]
        shown = [fact for fact in facts if not self._happens(self.faults.hidden)] if self.faults.hidden else facts
        nodes = tuple(NodeFact(name, state) for name, state in self._nodes.items())
        return Observation(tuple(shown), nodes, complete=len(shown) == len(facts))

    def launch(self, launch: Launch) -> None:
        if self._happens(self.faults.unheard):
            raise Unsure("no answer")
        if launch.id not in self._attempts:
            if any(self._nodes[node] == NodeState.DOWN for node, _ in launch.parts):
                raise Refused("a node of it is down")
            if self._happens(self.faults.refused):
                raise Refused("no such node, today")
            self._accept(launch)
            if self._happens(self.faults.forgotten):
                self._forget(launch.id)
        if self._happens(self.faults.unanswered):
            raise Unsure("no answer")

    def stop(self, attempt: AttemptId, how: Stop) -> None:
        if self._happens(self.faults.unheard):
            raise Unsure("no answer")
        one = self._attempts.get(attempt)
        if one is not None and one.phase in (Phase.ACCEPTED, Phase.RUNNING) and not one.asked:
            self._keep_progress(attempt.job, one)
            one.asked = True
            one.due_ms = self.now_ms + self.delays.stop(self._draw)
        if self._happens(self.faults.unanswered):
            raise Unsure("no answer")

    def progress(self, job: int) -> float | None:
        if job not in self.programs:  # it has not been started yet
            return None
        one = self._attempts.get(self._alive_of[job]) if job in self._alive_of else None
        runs_ms = self.now_ms - one.since_ms if one is not None and one.phase == Phase.RUNNING else 0
        return min(1.0, (self._done_ms.get(job, 0.0) + runs_ms) / max(1.0, self.programs[job].work_ms))

    def close(self) -> None:
        pass

    # -- its own world ------------------------------------------------------------------------------------

    def next_ms(self) -> int:
        """When something happens there next."""
        return min((one.due_ms for one in self._attempts.values() if one.phase != Phase.ENDED), default=NEVER)

    def step(self, to_ms: int) -> None:
        """All that happens until then, in order."""
        while (due := self.next_ms()) <= to_ms:
            self.now_ms = max(self.now_ms, due)
            for id_, one in [*self._attempts.items()]:
                if one.phase != Phase.ENDED and one.due_ms <= self.now_ms:
                    self._happen(id_, one)
        self.now_ms = max(self.now_ms, to_ms)

    def set_node(self, name: str, state: NodeState) -> None:
        """A node drains, fails or comes back; what ran on one that fails is gone."""
        self._nodes[name] = state
        if state == NodeState.DOWN:
            for id_, one in [*self._attempts.items()]:
                if one.phase != Phase.ENDED and _is_on(one, {name}):
                    self._done_ms.pop(id_.job, None) if one.phase == Phase.RUNNING else None
                    self._forget(id_)

    def forget(self, attempts: Iterable[AttemptId], jobs: Iterable[int]) -> None:
        """The records of attempts that have ended are not needed any more."""
        for id_ in attempts:
            if id_ in self._attempts:
                self._forget(id_)

    def alive(self) -> list[AttemptId]:
        return [id_ for id_, one in self._attempts.items() if one.phase != Phase.ENDED]

    def parts_of(self, attempt: AttemptId) -> Parts:
        """The GPUs that it has."""
        return self._attempts[attempt].parts

    def _happens(self, share: float) -> bool:
        return share > 0.0 and self._draw.random() < share

    def _forget(self, id_: AttemptId) -> None:
        """As if it had never been."""
        self._let_go(id_, self._attempts.pop(id_))

    def _let_go(self, id_: AttemptId, one: _Attempt) -> None:
        """Its GPUs are free."""
        for gpu in gpus_of(one.parts):
            if self._holders.get(gpu) == id_:
                del self._holders[gpu]
        if self._alive_of.get(id_.job) == id_:
            del self._alive_of[id_.job]

    def _accept(self, launch: Launch) -> None:
        self._check_alone(launch)
        again = launch.id.job in self._done_ms
        takes_ms = self.delays.start(self._draw) + (self.delays.restore(self._draw) if again else 0)
        self._attempts[launch.id] = _Attempt(launch.parts, Phase.ACCEPTED, self.now_ms + takes_ms)

    def _check_alone(self, launch: Launch) -> None:
        """Nothing else has any of its GPUs, and its job does not run."""
        id_ = launch.id
        if (other := self._alive_of.get(id_.job)) is not None:
            self.twice.append(f"job {id_.job} as {other.attempt} and as {id_.attempt} at {self.now_ms}")
        self._alive_of[id_.job] = id_
        for gpu in gpus_of(launch.parts):
            if gpu in self._holders:
                self.twice.append(f"GPU {gpu} by {self._holders[gpu]} and {id_} at {self.now_ms}")
            self._holders[gpu] = id_

    def _happen(self, id_: AttemptId, one: _Attempt) -> None:
        """What was due is over: a start, the work, or a stop."""
        program = self.programs[id_.job]
        if one.asked:
            self._end(id_, one, Exit(None, 15, ran=one.phase == Phase.RUNNING, asked=True))
        elif one.phase == Phase.ACCEPTED:
            if program.never_starts or self._happens(self.faults.failing_start):
                self._end(id_, one, Exit(127, ran=False))
                return
            one.phase, one.since_ms, one.fact = Phase.RUNNING, self.now_ms, None
            left = program.work_ms - self._done_ms.setdefault(id_.job, 0.0)
            one.due_ms = self.now_ms + max(1, int(-(-left // 1)))
        else:
            self.runs[id_.job] = self.runs.get(id_.job, 0) + 1
            self._end(id_, one, program.exit)

    def _end(self, id_: AttemptId, one: _Attempt, exit_: Exit) -> None:
        self._let_go(id_, one)
        one.phase, one.exit, one.due_ms, one.fact = Phase.ENDED, exit_, NEVER, None

    def _keep_progress(self, job: int, one: _Attempt) -> None:
        if one.phase == Phase.RUNNING:
            done = self._done_ms[job] + self.now_ms - one.since_ms
            self._done_ms[job] = max(0.0, done - self.delays.lost_ms)

    def _fact(self, id_: AttemptId, one: _Attempt) -> AttemptFact:
        one.fact = AttemptFact(id_, one.phase, one.parts, one.exit)
        return one.fact


def _is_on(one: _Attempt, nodes: Collection[str]) -> bool:
    return any(node in nodes for node, _ in one.parts)
