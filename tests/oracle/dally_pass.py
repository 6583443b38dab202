"""Section 7: one pass of `dally`, its offers and then its moves."""

from .dally import NODE, DallyWorld
from .placement import alternatives
from .policies import Pass
from .world import Life, World


def dally(world: World) -> None:
    assert isinstance(world, DallyWorld)
    this = Pass(world)
    refused: dict[object, int] = {}
    """By demand: the loosest level accepted by a job of that demand which has been passed over."""
    for life in this.waiting_in_order(lambda life: world.of(life).level):
        demand, accepts = demand_of(world, life), world.of(life).accepts
        if this.is_closed(life) or accepts <= refused.get(demand, -1):
            continue
        running = world.having("RUNNING")
        if not offer(this, world, life):
            refused[demand] = accepts
        elif life.state != "PENDING":
            world.note_wait(life)
        for victim in running:
            if victim.state == "PENDING":
                world.begin_to_wait(victim)
    round_ms = round(1000 * world.settings.round_s)
    if world.now % round_ms == 0 and may_move(this, world):
        world.changed = False
        for life in movers(this, world):
            move(this, world, life)
    if may_move(this, world):
        world.look_ms = (world.now // round_ms + 1) * round_ms


def demand_of(world: DallyWorld, life: Life) -> object:
    job = life.job
    return job.gpus, job.gpu_type, job.partition, job.queue if job.queue in world.rules.queue_limits else None


def offer(this: Pass, world: DallyWorld, life: Life) -> bool:
    """Start the job if it can be placed, be it by an eviction, and its queue has room; False if it cannot be placed."""
    accepts = world.of(life).accepts
    free = world.free() - this.on_hold
    chosen = world.find_within(life, free, accepts)
    if chosen is not None:
        if not this.over_limit(life):
            this.start_on(life, chosen)
        return True
    eligible_free = [sum(node in eligible for node, _ in free) for eligible in alternatives(world.nodes, life.job)]
    if not world.settings.preempts or max(eligible_free) >= life.job.gpus:
        return False
    within = NODE if world.best_level(life) == NODE else accepts
    rank = (-life.job.priority, world.of(life).level)
    return this.evict_for(
        life,
        worse=lambda v: world.of(v).past_quantum and (-v.job.priority, world.of(v).level) > rank,
        worst_first=lambda v: -world.of(v).level,
        find=lambda life, open_gpus: world.find_within(life, open_gpus, within),
    )


def movers(this: Pass, world: DallyWorld) -> list[Life]:
    """Running jobs past their quantum that would be faster at their best level, in order."""
    found = [
        life
        for life in world.having("RUNNING")
        if world.of(life).past_quantum
        and life.row not in this.started_rows
        and world.level_of(life.place) > world.best_level(life)
        and world.rate_at(life, world.best_level(life)) > life.rate
    ]
    return sorted(found, key=lambda life: (-life.job.priority, world.of(life).level, life.row))


def may_move(this: Pass, world: DallyWorld) -> bool:
    return world.settings.preempts and world.changed and bool(movers(this, world))


def move(this: Pass, world: DallyWorld, life: Life) -> None:
    """To the tightest level that pays and has room."""
    for level in range(world.best_level(life), world.level_of(life.place)):
        if not pays(world, life, world.rate_at(life, level)):
            return
        chosen = world.find_within(life, (world.free() | world.up(life.place)) - this.on_hold, level)
        if chosen is not None:
            world.preempt(life)
            if world.rules.stop_ms == 0:
                this.start_on(life, chosen)
            return


def pays(world: DallyWorld, life: Life, there: float) -> bool:
    rules = world.rules
    left = world.remaining(life) if rules.knows_work else world.work_done(life)
    cost_ms = rules.stop_ms + rules.start_ms + rules.restore_ms + rules.lost_ms / there
    return left / life.rate - left / there > cost_ms
