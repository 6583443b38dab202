"""Section 7: one pass of `dally`, its offers and then its moves."""

from collections.abc import Iterator

from .dally import DallyWorld
from .moving import improve_places
from .network import NETWORK, NODE
from .placement import alternatives, has_enough
from .policies import Pass
from .world import Life, World, to_ms


def dally(world: World) -> None:
    assert isinstance(world, DallyWorld)
    world.before_cycle()
    this = Pass(world)
    refused: dict[object, int] = {}
    """By demand: the loosest level accepted by a job of that demand which has been passed over."""
    held_back: set[int] = set()
    """Nodes on which no other job starts than one that goes first and has no place."""
    for life in in_order(world):
        demand, accepts = demand_of(world, life), world.of(life).accepts
        held = bool(held_back & world.eligible_nodes(life))
        if this.is_closed(life) or held or accepts <= refused.get(demand, -1):
            continue
        running = world.having("RUNNING")
        if world.goes_first(life):
            if not offer_first(this, world, life):
                held_back |= world.eligible_nodes(life)
        elif not offer(this, world, life):
            refused[demand] = accepts
        elif life.state != "PENDING":
            world.note_wait(life)
        for victim in running:
            if victim.state == "PENDING":
                world.begin_to_wait(victim)
    if world.settings.preempts and not held_back:
        improve_places(this, world, to_ms(world.settings.round_s))


def in_order(world: DallyWorld) -> Iterator[Life]:
    """Each waiting job once, victims too: under `gittins` their rank may have fallen."""
    tried: set[int] = set()
    while waiting := [life for life in world.waiting() if life.row not in tried]:
        first = min(waiting, key=world.rank)
        tried.add(first.row)
        yield first


def demand_of(world: DallyWorld, life: Life) -> object:
    job = life.job
    queue = job.queue if job.queue in world.rules.queue_limits else None
    return job.gpus, job.per_node, job.gpu_type, job.partition, queue


def offer_first(this: Pass, world: DallyWorld, life: Life) -> bool:
    """Within a node if it can be, otherwise anywhere, each time on free GPUs or by an eviction."""
    within_a_node = world.best_level(life) == NODE and not world.takes_whole_nodes(life)
    return any(offer_within(this, world, life, level) for level in ([NODE, NETWORK] if within_a_node else [NETWORK]))


def offer_within(this: Pass, world: DallyWorld, life: Life, level: int) -> bool:
    chosen = world.find_within(life, world.free(), level)
    if chosen is not None:
        if not this.over_limit(life):
            this.start_on(life, chosen)
        return True
    return evict_within(this, world, life, level)


def offer(this: Pass, world: DallyWorld, life: Life) -> bool:
    """Start the job if it can be placed, be it by an eviction, and its queue has room; False if it cannot be placed."""
    accepts = world.of(life).accepts
    free = world.free()
    chosen = world.find_within(life, free, accepts)
    if chosen is not None:
        if not this.over_limit(life):
            this.start_on(life, chosen)
        return True
    enough = any(has_enough(world.nodes, eligible, life.job, free) for eligible in alternatives(world.nodes, life.job))
    if not world.settings.preempts or enough:
        return False
    within = NODE if world.best_level(life) == NODE and not world.takes_whole_nodes(life) else accepts
    return evict_within(this, world, life, within)


def evict_within(this: Pass, world: DallyWorld, life: Life, within: int) -> bool:
    rank = (-life.job.priority, world.bar_of(life))
    return this.evict_for(
        life,
        world.order_of,
        worse=lambda v: world.of(v).past_quantum and (-v.job.priority, world.key_of(v)) > rank,
        worst_first=lambda v: -world.key_of(v),
        find=lambda life, open_gpus: world.find_within(life, open_gpus, within),
    )
