"""A policy that uses every kind of declaration; what it writes is worked out by hand in `test_named`."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pointsman.policies.sdk import (
    ACTIVE,
    OK,
    OPEN,
    PENDING,
    CompiledPolicy,
    Int,
    Knowledge,
    OfGpu,
    OfJob,
    OfNode,
    Record,
    State,
    bits,
    block,
    choice,
    core,
    derived,
    enqueue,
    flag,
    number,
    numbers,
    parameter,
    part,
    rows,
    start,
    view_of,
    whole,
    wholes,
)


class Bin(Record):
    """Waits of one class."""

    count = whole("jobs")
    sum_ms = number("of their waits", unit="ms")


class Tuner(Record):
    """A part."""

    bins = rows(Bin, (2, 3), "by level and demand")
    seen = wholes(4, "by demand")
    mask = bits("GPUs")


class Memory(Record):
    """What the policy keeps."""

    rounds = whole("scheduling cycles")
    long = flag("there were more than two")
    tuner = part(Tuner, "a part")
    classes = rows(Bin, OPEN, "by class")
    more = numbers(OPEN, "of an open array")
    grid = numbers((3, 5), "of two dimensions")


class Kept(OfJob):
    """What it keeps of a job."""

    late = flag("it was tried twice")
    tries = whole("how often it was tried")
    weight = number("half of that")


class OnNode(OfNode):
    """What it keeps of a node."""

    marks = whole("three a cycle")


class OnGpu(OfGpu):
    """What it keeps of a GPU."""

    load = number("one and a half a cycle")


class Named(CompiledPolicy):
    """Jobs start in any order."""

    name: ClassVar[str] = "named"
    needs: ClassVar[Knowledge] = "none"
    hooks: ClassVar[str] = __file__
    memory: ClassVar[type[Record]] = Memory
    kept: ClassVar[type[OfJob]] = Kept

    patience_s: float = parameter(10.5, "a time", unit="s")
    share: float = parameter(0.25, "a share")
    many: int = parameter(7, "a number")
    is_on: bool = parameter(True, "a flag")
    mode: Literal["a", "b", "c"] = parameter("c", "a choice")
    thresholds_gpu_s: tuple[float, ...] = parameter((1.0, 2.5), "GPU time", unit="GPU-s", max_length=5)
    label: str = parameter("", "text, which compiled code cannot have")

    @derived
    def twice(self) -> int:
        """Twice as many."""
        return 2 * self.many

    def new_memory(self) -> NDArray[np.float64]:
        """With room for nine classes."""
        return Memory.zeros({"classes": 9, "more": 3})


params, memory, kept = view_of(Named), view_of(Memory), view_of(Kept)
node, gpu = view_of(OnNode), view_of(OnGpu)
C = choice(Named, "mode", "c")


@core
def on_event(S: State, kind: Int, j: Int) -> None:
    """Note and queue a job."""
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        K = kept(S, j)
        K.tries += 1
        K.weight = 0.5 * K.tries
        K.late = K.tries > 1
        enqueue(S, j, 0.0, np.inf)


@core
def on_run(S: State, j: Int) -> None:
    """Nothing."""


@core
def _note(T: Tuner, i: Int) -> None:
    """A part is handed on."""
    T.bins[1, i].count += 1
    T.bins[1, i].sum_ms += 0.25
    T.seen[i] += 2
    T.mask |= np.int64(1) << (60 + i)


@core
def decide(S: State) -> None:
    """Write to everything, then start what fits."""
    P, M = params(S), memory(S)
    M.rounds += 1
    M.long = M.rounds > 2
    _note(M.tuner, np.int64(2))
    node(S, np.int64(0)).marks += 3
    gpu(S, np.int64(1)).load += 1.5
    for i in range(M.classes.shape[0]):
        M.classes[i].count += i
    M.more[2] += P.share
    M.grid[2, 4] = P.patience_ms + P.thresholds_gpu_ms[1] + P.twice
    M.grid[1, 0] = M.grid.shape[1] if P.is_on and P.mode == C else 0.0
    for i in range(S.g[0].active):
        c = S.lists[ACTIVE, i]
        j = S.buckets[c].first
        if j >= 0:
            kept(S, j).tries += 10
            if start(S, j, OK) != OK:
                block(S, c)
