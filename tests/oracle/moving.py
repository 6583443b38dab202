"""Section 7: at the end of a pass, running jobs that their place slows down are moved to better ones."""

from .network import NetworkWorld
from .policies import Pass
from .world import Life


def improve_places(this: Pass, world: NetworkWorld, round_ms: int) -> None:
    if world.now % round_ms == 0 and may_move(this, world):
        world.changed = False
        for life in movers(this, world):
            if world.may_be_moved(life):
                move(this, world, life)
    if may_move(this, world):
        world.look_ms = (world.now // round_ms + 1) * round_ms


def movers(this: Pass, world: NetworkWorld) -> list[Life]:
    """Running jobs that may make way and would be faster at their best level, in order."""
    found = [
        life
        for life in world.having("RUNNING")
        if world.may_make_way(life)
        and life.row not in this.started_rows
        and world.level_of(life.place) > world.best_level(life)
        and world.rate_at(life, world.best_level(life)) > life.rate
    ]
    return sorted(found, key=world.rank)


def may_move(this: Pass, world: NetworkWorld) -> bool:
    return world.changed and bool(movers(this, world))


def move(this: Pass, world: NetworkWorld, life: Life) -> None:
    """To the tightest level that pays and has room."""
    for level in range(world.best_level(life), world.level_of(life.place)):
        if not pays(world, life, world.rate_at(life, level)):
            return
        chosen = world.find_within(life, world.free() | world.up(life.place), level)
        if chosen is not None:
            world.preempt(life)
            if world.rules.stop_ms == 0:
                this.start_on(life, chosen)
            return


def pays(world: NetworkWorld, life: Life, there: float) -> bool:
    rules = world.rules
    left = world.remaining(life) if rules.knows_work else world.work_done(life)
    cost_ms = rules.stop_ms + rules.start_ms + rules.restore_ms + (rules.lost_ms + world.lost_besides(life)) / there
    return left / life.rate - left / there > cost_ms
