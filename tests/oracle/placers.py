"""Section 7, the placers: jobs in order, those that do not fit skipped, and forwarded from scheduler to scheduler."""

from collections.abc import Callable, Mapping
from typing import Any

from . import gang_places as places
from .gang_places import Counts, compact, on_sockets
from .model import Place
from .placement import place_among
from .policies import Pass, by_estimate, by_row
from .reserving import PARAMS as RESERVING
from .reserving import reserved_for, serve_overdue
from .schedulers import Free, PlacerWorld
from .scorer import FEATURES, scorer
from .world import Life, World

Choose = Callable[[PlacerWorld, Life, Free], Place]
SHARED = {"schedulers", "forward", "order"} | RESERVING
PARAMS = {
    "packed-patience": SHARED | {"patience"},
    "random-place": SHARED | {"random_seed"},
    "scorer": SHARED | {"patience", *FEATURES},
}


def settings_of(policy: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """As a `PlacerWorld` takes them. The weights of `scorer` must be given."""
    weights = {name: params[name] for name in FEATURES if name in params}
    defaults: dict[str, dict[str, Any]] = {"packed-patience": {"patience": 0.5}, "scorer": {"order": "sjf"}}
    others = {k: v for k, v in params.items() if k not in {*FEATURES, *RESERVING}}
    return {**defaults.get(policy, {}), **others, "weights": weights}


def in_order(choose: Choose) -> Callable[[World], None]:
    """The first job that takes what is free, again and again."""

    def decide(world: World) -> None:
        assert isinstance(world, PlacerWorld)
        this = Pass(world)
        key = by_estimate if world.order == "sjf" else by_row
        heads = serve_overdue(
            this, lambda life: this.over_limit(life) or start(this, world, life, choose, at_home=True)
        )
        reserved = reserved_for(heads)
        while reserved and any(
            this.over_limit(life) or start(this, world, life, choose, at_home=True)
            for life in this.waiting_in_order(key)
            if not this.is_closed(life) and world.ends_in_time(life, heads) and takes_at_home(world, life)
        ):
            pass
        world.hidden = reserved
        while any(start(this, world, life, choose) for life in this.waiting_in_order(key) if not this.is_closed(life)):
            pass
        world.hidden = frozenset()

    return decide


def start(this: Pass, world: PlacerWorld, life: Life, choose: Choose, *, at_home: bool = False) -> bool:
    """Whether it takes what is free; it is started then, unless its queue is full and closed for it. `at_home`: it is
    not forwarded.
    """
    mine = world.belongs_to[life.row]
    to = scheduler_for(world, life)
    if to is None or (at_home and to != mine):
        return False
    if to != mine:
        if this.over_limit(life):
            return True
        world.forwarded.append((life.row, mine, to))
        world.belongs_to[life.row] = to
    free = takes(world, life, to)
    assert free is not None
    chosen = in_shape(world, life, free) if life.job.per_node else choose(world, life, free)
    if not this.over_limit(life):
        this.start_on(life, chosen)
    return True


def in_shape(world: PlacerWorld, life: Life, free: Free) -> Place:
    """On the nodes of its scheduler, by section 3."""
    gpus = {gpu for own in free.values() for gpu in own}
    chosen = place_among(world.nodes, list(free), life.job, gpus, "tightest")
    assert chosen is not None
    return frozenset(chosen)


def scheduler_for(world: PlacerWorld, life: Life) -> int | None:
    """Its own, or one to which it is forwarded; None if it waits."""
    mine = world.belongs_to[life.row]
    if takes(world, life, mine) is not None:
        return mine
    if not world.forward or life.row in [row for row, _, _ in world.forwarded]:
        return None
    free = {p: found for p in range(world.schedulers) if (found := takes(world, life, p)) is not None}
    return min(free, key=lambda p: (-places.in_all(free[p]), p), default=None)


def takes(world: PlacerWorld, life: Life, scheduler: int) -> Free | None:
    """What is free on the scheduler's nodes, if it would place the job there now."""
    free = world.offered(life, scheduler)
    if free is not None and world.is_patient(life) and compact(world, life, free) is None:
        return None
    return free


def takes_at_home(world: PlacerWorld, life: Life) -> bool:
    return takes(world, life, world.belongs_to[life.row]) is not None


def counted(choose: Callable[[PlacerWorld, Life, Free], Counts]) -> Choose:
    """Of each node so many."""
    return lambda world, life, free: on_sockets(world, free, choose(world, life, free))


PLACERS: dict[str, Callable[[World], None]] = {
    "lb": in_order(counted(places.lb)),
    "tetris-place": in_order(counted(places.tetris)),
    "lif": in_order(counted(places.lif)),
    "random-place": in_order(places.random_place),
    "packed": in_order(counted(places.packed)),
    "packed-lif": in_order(counted(places.packed_lif)),
    "packed-patience": in_order(counted(places.compact_or_packed)),
    "scorer": in_order(scorer),
}
