"""Section 10: `sjf-bsbf`, `sjf-bsbf-consolidated`, `sjf-ffs`: shortest job first, two on a GPU where it pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .model import Gpu, Place
from .placement import alternatives
from .policies import Pass

if TYPE_CHECKING:
    from .sharing import SharedLife, SharingWorld

Shared = tuple[Place, int]
"""A place, and the accumulation steps there."""


@dataclass(frozen=True)
class Partner:
    life: SharedLife
    gpus: list[Gpu]
    """Its single ones, lowest first."""
    steps: int
    """That the newcomer needs beside it."""
    left: float
    """L_B"""
    xi_a: float
    xi_b: float
    together: float
    """T"""


# -- passes ----------------------------------------------------------------------------------------------


def sjf_bsbf(world: SharingWorld) -> None:
    this = Pass(world)
    for life in waiting(this, world):
        if not this.start(life):
            start_shared(this, world, life, find_shared(world, life))


def sjf_ffs(world: SharingWorld) -> None:
    this = Pass(world)
    for life in waiting(this, world):
        if not this.start(life):
            start_shared(this, world, life, find_first_fit(world, life))


def sjf_bsbf_consolidated(world: SharingWorld) -> None:
    this = Pass(world)
    for life in waiting(this, world):
        on_one = None if world.is_fraction(life) or life.job.per_node else find_on_one_node(world, life)
        if on_one is not None:
            start_shared(this, world, life, on_one)
        elif not this.start(life):
            start_shared(this, world, life, find_shared(world, life))


def waiting(this: Pass, world: SharingWorld) -> Iterator[SharedLife]:
    for life in this.waiting_in_order(world.remaining):
        if not this.is_closed(life):
            yield world.lives[life.row]


def start_shared(this: Pass, world: SharingWorld, life: SharedLife, found: Shared | None) -> None:
    if found is not None and not this.over_limit(life):
        world.start(life, *found)
        this.started_rows.add(life.row)


# -- places ----------------------------------------------------------------------------------------------


def find_shared(world: SharingWorld, life: SharedLife) -> Shared | None:
    for eligible in alternatives(world.nodes, life.job):
        found = find_among(world, life, eligible, eligible)
        if found is not None:
            return found
    return None


def find_on_one_node(world: SharingWorld, life: SharedLife) -> Shared | None:
    """On one node, in the first alternative where that can be."""
    for eligible in alternatives(world.nodes, life.job):
        size = max((world.nodes[node].gpus for node in eligible), default=0)
        if life.job.gpus > size:
            continue
        up = [node for node in eligible if world.node_state[node] == "UP"]
        for node in sorted(up, key=lambda node, size=size: suits(world, life, node, size)):
            free = free_on(world, [node])
            if len(free) >= life.job.gpus:
                return frozenset(free[: life.job.gpus]), 1
            found = find_among(world, life, eligible, [node])
            if found is not None:
                return found
    return None


def suits(world: SharingWorld, life: SharedLife, node: int, size: int) -> tuple[int, ...]:
    free, wanted = len(free_on(world, [node])), life.job.gpus
    jobs = sum(any(at == node for at, _ in other.place) for other in world.lives)
    return (free - wanted if free >= wanted else size, -free, jobs, node)


def find_among(world: SharingWorld, life: SharedLife, eligible: list[int], nodes: list[int]) -> Shared | None:
    """All free GPUs of these nodes of an alternative, and single ones of the partners with which it pays."""
    if world.is_fraction(life) or life.job.per_node or not eligible:
        return None
    gpu_type = world.speeds.type_of_gang(eligible)
    paying = sorted(partners(world, life, nodes, gpu_type), key=lambda partner: (partner.together, partner.life.row))
    chosen, taken = free_on(world, nodes), []
    for partner in paying:
        if len(chosen) < life.job.gpus:
            chosen += partner.gpus[: life.job.gpus - len(chosen)]
            taken.append(partner)
    if len(chosen) < life.job.gpus or not taken:
        return None
    steps = max(partner.steps for partner in taken)
    if world.gate == "joint" and not pays_jointly(world, life, taken, gpu_type, steps):
        return None
    return frozenset(chosen), steps


def find_first_fit(world: SharingWorld, life: SharedLife) -> Shared | None:
    if world.is_fraction(life) or life.job.per_node:
        return None
    for eligible in alternatives(world.nodes, life.job):
        chosen, steps = free_on(world, eligible), 1
        for gpu in sorted(singles(world, eligible)):
            fits = world.speeds.least_steps(life.job, {gpu: world.free_bytes(gpu)}, world.accumulation)
            if fits is not None and len(chosen) < life.job.gpus:
                chosen.append(gpu)
                steps = max(steps, fits)
        if len(chosen) >= life.job.gpus:
            return frozenset(chosen), steps
    return None


def free_on(world: SharingWorld, nodes: Sequence[int]) -> list[Gpu]:
    return sorted(gpu for gpu in world.free() if gpu[0] in nodes)


def singles(world: SharingWorld, nodes: Sequence[int]) -> dict[Gpu, SharedLife]:
    """GPUs on UP nodes with exactly one job, which can take another beside it."""
    found = {}
    for life in world.having("RUNNING", "STARTING"):
        for gpu in world.up(life.place):
            alone = world.on(gpu) == [life] and not world.is_fraction(life)
            if gpu[0] in nodes and alone and world.sharing > 1:
                found[gpu] = world.lives[life.row]
    return found


# -- whether it pays -------------------------------------------------------------------------------------


def partners(world: SharingWorld, life: SharedLife, nodes: Sequence[int], gpu_type: str) -> Iterator[Partner]:
    """Those with which it pays."""
    speeds = world.speeds
    single = singles(world, nodes)
    for other in world.lives:
        gpus = sorted(gpu for gpu, owner in single.items() if owner is other)
        free = {gpu: world.free_bytes(gpu) for gpu in gpus}
        steps = speeds.least_steps(life.job, free, world.accumulation) if gpus else None
        if steps is not None:
            left = max(0, world.remaining(other)) / world.solo_rate(other)
            xi_a = speeds.xi(gpu_type, life.job.model, other.job.model)
            xi_b = speeds.xi(gpu_type, other.job.model, life.job.model)
            joined = mean_of_joining(left_alone(world, life, gpu_type, steps), left, xi_a, xi_b)
            if joined < left + left_alone(world, life, gpu_type, 1) / 2:
                yield Partner(other, gpus, steps, left, xi_a, xi_b, joined)


def left_alone(world: SharingWorld, life: SharedLife, gpu_type: str, steps: int) -> float:
    """L_A; at one step, L_A'"""
    return max(0, world.remaining(life)) * world.speeds.stretch(life.job, gpu_type, steps)


def mean_of_joining(left_a: float, left_b: float, xi_a: float, xi_b: float) -> float:
    """T: the mean completion time of both from now on if A joins B at once."""
    if xi_a * left_a >= xi_b * left_b:
        return left_a / 2 + (1 - 1 / (2 * xi_a)) * xi_b * left_b
    return left_b / 2 + (1 - 1 / (2 * xi_b)) * xi_a * left_a


def pays_jointly(world: SharingWorld, life: SharedLife, taken: list[Partner], gpu_type: str, steps: int) -> bool:
    left = left_alone(world, life, gpu_type, steps)
    alone = [partner.left for partner in taken]
    later = max(alone) + left_alone(world, life, gpu_type, 1)
    return sum_of_ends(left, taken) < sum(alone) + later


def sum_of_ends(left_a: float, taken: list[Partner]) -> float:
    """The completion times of A and its partners together, when all begin now."""
    left = [partner.left for partner in taken]
    now, total, a_runs = 0.0, 0.0, True
    running = list(range(len(taken)))
    while a_runs or running:
        slow_a = max((taken[i].xi_a for i in running), default=1.0)
        needs = {i: left[i] * (taken[i].xi_b if a_runs else 1.0) for i in running}
        step = min([*needs.values(), *([left_a * slow_a] if a_runs else [])])
        now += step
        ended = [i for i in running if needs[i] <= step]
        a_ends = a_runs and left_a * slow_a <= step
        for i in running:
            left[i] -= step / (taken[i].xi_b if a_runs else 1.0)
        left_a -= step / slow_a if a_runs else 0.0
        total += now * (len(ended) + a_ends)
        running = [i for i in running if i not in ended]
        a_runs = a_runs and not a_ends
    return total
