"""Section 7, `tiresias-skew`: Tiresias whose jobs accept their best level only, or any place."""

from dataclasses import dataclass

from .network import NETWORK, NetworkWorld
from .policies import Pass
from .world import Life, World

PARAMS = {"thresholds_gpu_s", "promote_knob", "skew"}


@dataclass
class SkewWorld(NetworkWorld):
    skew: float = 0.1

    def accepts(self, life: Life) -> int:
        best = self.best_level(life)
        return best if self.is_slower_beyond(life, best, self.skew) else NETWORK


def tiresias_skew(world: World) -> None:
    assert isinstance(world, SkewWorld)
    this = Pass(world)
    for life in this.waiting_in_order(world.level):
        if this.is_closed(life):
            continue
        accepts = world.accepts(life)
        chosen = world.find_within(life, world.free(), accepts)
        if chosen is None:
            rank = (-life.job.priority, world.level(life))
            this.evict_for(
                life,
                world.level,
                worse=lambda v, rank=rank: (-v.job.priority, world.level(v)) > rank,
                worst_first=lambda v: -world.level(v),
                find=lambda life, free, accepts=accepts: world.find_within(life, free, accepts),
            )
        elif not this.over_limit(life):
            this.start_on(life, chosen)
