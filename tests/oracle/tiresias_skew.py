"""Section 7, `tiresias-skew`: Tiresias whose jobs accept their best level only, or any place."""

from dataclasses import dataclass

from .dally_pass import demand_of
from .network import NETWORK, NODE, NetworkWorld
from .policies import Pass, evict_in_turn
from .waiting import OPTIONS, TurnsWorld
from .world import Life, World

PARAMS = {"thresholds_gpu_s", "promote_knob", "skew"} | OPTIONS


@dataclass
class SkewWorld(TurnsWorld, NetworkWorld):
    skew: float = 0.1

    def accepts(self, life: Life) -> int:
        best = self.best_level(life)
        return best if self.is_slower_beyond(life, best, self.skew) and not self.goes_first(life) else NETWORK


def tiresias_skew(world: World) -> None:
    assert isinstance(world, SkewWorld)
    world.grant()
    this = Pass(world)
    refused: dict[object, int] = {}
    """By demand: the loosest level accepted by a job of that demand which has been passed over."""
    held_back: set[int] = set()
    for life in this.waiting_in_order(world.turn(world.level)):
        demand, accepts = demand_of(world, life), world.accepts(life)
        held = bool(held_back & world.eligible_nodes(life))
        if this.is_closed(life) or held or accepts <= refused.get(demand, -1):
            continue
        first = world.goes_first(life)
        levels = [NODE, NETWORK] if first and world.best_level(life) == NODE else [accepts]
        if any(offer_within(this, world, life, level) for level in levels):
            continue
        if first:
            held_back |= world.eligible_nodes(life)
        else:
            refused[demand] = accepts


def offer_within(this: Pass, world: SkewWorld, life: Life, level: int) -> bool:
    chosen = world.find_within(life, world.free(), level)
    if chosen is None:
        find = lambda life, free: world.find_within(life, free, level)  # noqa: E731
        return evict_in_turn(this, world, life, world.level, world.bar_level, world.level_as_victim, find)
    if not this.over_limit(life):
        this.start_on(life, chosen)
    return True
