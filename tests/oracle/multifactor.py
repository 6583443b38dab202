"""Section 7: `multifactor`, whose priorities are worked out anew from all that was ever held."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .conservative import Cycle, PlanWorld
from .policies import Key, easy, strict
from .world import Life, to_ms

PARAMS = {
    "backfill", "bf_max_job_test",
    "weight_age", "weight_fair_share", "weight_job_size", "weight_partition", "max_age_s", "favor_small",
    "decay_half_life_s", "calc_period_s", "dampening", "shares", "parents", "partition_priority",
}  # fmt: skip
DEFAULTS: dict[str, Any] = {
    "backfill": "conservative", "bf_max_job_test": 500,
    "weight_age": 1000, "weight_fair_share": 10_000, "weight_job_size": 1000, "weight_partition": 1000,
    "max_age_s": 604_800, "favor_small": False, "decay_half_life_s": 604_800, "calc_period_s": 300, "dampening": 1,
    "shares": {}, "parents": {}, "partition_priority": {},
}  # fmt: skip


@dataclass
class FairWorld(PlanWorld):
    calculated_ms: int = -1
    """The time of the priorities by which the last cycle went."""
    held: list[tuple[Life, int, int]] = field(default_factory=list)
    """Who held GPUs, from when to when."""
    wake_ms: int | None = None

    @property
    def period_ms(self) -> int:
        return to_ms(self.settings["calc_period_s"])

    def free_gpus(self, life: Life) -> None:
        if life.place:
            self.held.append((life, life.held_since_ms, self.now))
        super().free_gpus(life)

    def next_event_ms(self) -> int | None:
        due = [time_ms for time_ms in (super().next_event_ms(), self.wake_ms) if time_ms is not None]
        return min(due, default=None)

    def apply_events(self) -> None:
        super().apply_events()
        if self.wake_ms is not None and self.wake_ms <= self.now:
            self.wake_ms = None

    def usage(self, time_ms: int, mine: Any = lambda life: True) -> float:
        """GPU-ms that `mine` held up to a time, the older the less."""
        holding = [(life, life.held_since_ms, self.now) for life in self.lives if life.place]
        spans = [(life, begin, min(end, time_ms)) for life, begin, end in [*self.held, *holding] if mine(life)]
        return math.fsum(life.job.gpus * self.weighed(begin, end, time_ms) for life, begin, end in spans if end > begin)

    def weighed(self, begin_ms: int, end_ms: int, time_ms: int) -> float:
        half_life_ms = to_ms(self.settings["decay_half_life_s"])
        if half_life_ms == 0:
            return end_ms - begin_ms
        decay = math.log(2) / half_life_ms
        return (math.exp(-decay * (time_ms - end_ms)) - math.exp(-decay * (time_ms - begin_ms))) / decay

    def fair_share(self, account: str, user: str, time_ms: int) -> float:
        """Section 7, for accounts below the root."""
        total = self.usage(time_ms)
        if total == 0:
            return 1.0
        shares = self.settings["shares"]
        accounts = {life.job.queue for life in self.lives}
        users = {life.job.user for life in self.lives if life.job.queue == account}
        of_account = shares.get(account, 1) / sum(shares.get(name, 1) for name in accounts)
        of_user = shares.get(f"{account}/{user}", 1) / sum(shares.get(f"{account}/{name}", 1) for name in users)
        by_account = self.usage(time_ms, lambda life: life.job.queue == account) / total
        by_user = self.usage(time_ms, lambda life: (life.job.queue, life.job.user) == (account, user)) / total
        effective = by_user + (by_account - by_user) * of_user
        return math.exp(-math.log(2) * effective / (of_account * of_user) / self.settings["dampening"])

    def priority(self, life: Life) -> int:
        at, job = self.settings, life.job
        time_ms = self.now // self.period_ms * self.period_ms
        gpus = sum(node.gpus for node in self.nodes)
        age = min(1.0, max(0, time_ms - job.submit_ms) / to_ms(at["max_age_s"]))
        size = (gpus - job.gpus + 1) / gpus if at["favor_small"] else job.gpus / gpus
        of = at["partition_priority"]
        partition = max(of.get(name, 1) for name in job.partition.split(",")) / max([1, *of.values()])
        return math.floor(
            at["weight_age"] * age
            + at["weight_fair_share"] * self.fair_share(job.queue, job.user, time_ms)
            + at["weight_job_size"] * size
            + at["weight_partition"] * partition
        )


CYCLES: dict[str, Callable[[FairWorld, Key, int], None]] = {
    "conservative": lambda world, key, depth: Cycle(world, key, depth, False).run(),
    "easy": lambda world, key, depth: easy(world, key),
    "none": lambda world, key, depth: strict(world, key),
}


def multifactor(world: FairWorld) -> None:
    found = {life.row: world.priority(life) for life in world.having("PENDING")}
    cycle, depth = CYCLES[world.settings["backfill"]], world.settings["bf_max_job_test"]
    world.broken |= world.calculated_ms != world.now // world.period_ms
    world.calculated_ms = world.now // world.period_ms
    cycle(world, lambda life: -found[life.row], depth)
    holding = world.having("STARTING", "RUNNING", "STOPPING")
    if world.having("PENDING") and holding and world.free():
        world.wake_ms = (world.now // world.period_ms + 1) * world.period_ms
