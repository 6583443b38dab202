"""Section 7, `dally` and its variants: what a job holds out for and for how long, offers, evictions and moves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, inf, isqrt
from typing import Any

from .costs import surcharge
from .model import Gpu, Place
from .network import NETWORK, NODE, RACK, NetworkWorld
from .placement import place
from .waiting import Options
from .world import Life, to_ms

BINS = 24


@dataclass(frozen=True)
class Settings(Options):
    """The parameters; seconds unless the name says otherwise."""

    node_timer_s: float = 7200
    rack_timer_s: float = 14_400
    history_s: float = 86_400
    least_entries: int = 5
    deviations: float = 1
    shortest_timer_s: float = 0
    longest_timer_s: float = 86_400
    epsilon: float = 0
    first_level_gpu_s: float = 3250
    levels: int = 12
    quantum_s: float = 1800
    round_s: float = 60
    tuned: bool = True
    preempts: bool = True
    whole_nodes: bool = False
    whole_nodes_loss: float = 0.05
    whole_nodes_gpus: int = 100
    sensitive: bool = False
    """Service counts work done, not time for which GPUs are held."""

    @property
    def timers_ms(self) -> list[float]:
        """Those of NODE and RACK without tuning."""
        node, rack = self.node_timer_s, self.rack_timer_s
        return [at if at == inf else to_ms(at) for at in (node, max(node, rack))]


VARIANTS = {
    "dally": Settings(),
    "dally-manual": Settings(tuned=False),
    "dally-nowait": Settings(tuned=False, node_timer_s=0, rack_timer_s=0),
    "dally-consolidated": Settings(tuned=False, node_timer_s=inf, rack_timer_s=inf),
    "dally-nopreempt": Settings(preempts=False),
    "dally-whole-nodes": Settings(tuned=False, node_timer_s=0, rack_timer_s=0, whole_nodes=True),
}
PARAMS = set(Settings.__dataclass_fields__) - {
    "tuned",
    "preempts",
    "whole_nodes",
    "whole_nodes_loss",
    "whole_nodes_gpus",
}
WITHOUT_TIMERS = ("dally-nowait", "dally-consolidated", "dally-whole-nodes")


def settings_of(policy: str, params: Mapping[str, Any]) -> Settings:
    fixed = {} if policy not in WITHOUT_TIMERS else {"node_timer_s", "rack_timer_s"}
    return replace(VARIANTS[policy], **{name: value for name, value in params.items() if name not in fixed})


@dataclass
class Standing:
    """What the policy remembers of one job."""

    level: int = 0
    """Level of service; it never falls."""
    as_victim: int = 0
    """The same of what is left after what a preemption costs."""
    sinks_ms: float = inf
    """When it reaches its next threshold, as last counted."""
    past_quantum: bool = False
    timers_ms: list[float] = field(default_factory=list)
    accepts: int = NODE


@dataclass(frozen=True)
class Wait:
    bin: int
    level: int
    width: int
    seconds: int
    censored: bool


@dataclass
class DallyWorld(NetworkWorld):
    settings: Settings = Settings()
    standings: list[Standing] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.standings = [Standing() for _ in self.lives]

    def of(self, life: Life) -> Standing:
        return self.standings[life.row]

    def may_make_way(self, life: Life) -> bool:
        return self.of(life).past_quantum

    def goes_first(self, life: Life) -> bool:
        """Whatever it ranks."""
        return False

    def takes_whole_nodes(self, life: Life) -> bool:
        """It is placed on one node or on whole nodes."""
        return self.settings.whole_nodes

    def bar_of(self, life: Life) -> float:
        """What the key of a victim of this waiting job must exceed."""
        level = self.of(life).level
        service = (self.threshold(level - 1) if level > 0 else 0) + self.surcharge(life)
        return max(level, sum(self.threshold(k) <= service for k in range(self.settings.levels)))

    def key_of(self, victim: Life) -> float:
        return self.of(victim).as_victim

    def surcharge(self, life: Life) -> int:
        return surcharge(self.rules, self.settings.cost_weight, life.job.gpus)

    def order_of(self, life: Life) -> float:
        """Of waiting jobs, the least first."""
        return self.of(life).level

    def rank(self, life: Life) -> tuple[float, ...]:
        key = self.key_of(life) if life.state == "RUNNING" else self.order_of(life)
        return -life.job.priority, key, life.row

    def find_within(self, life: Life, free: set[Gpu], loosest: int) -> Place | None:
        if not self.settings.whole_nodes:
            return super().find_within(life, free, loosest)
        chosen = place(self.nodes, life.job, free, "consolidated")
        return chosen if chosen is not None and self.level_of(chosen) <= loosest else None

    def holds_out_for(self, life: Life, level: int) -> bool:
        return self.is_slower_beyond(life, level, self.settings.epsilon)

    def before_cycle(self) -> None:
        """What happens before the pass."""

    # -- timers -----------------------------------------------------------------------------------------

    def become_pending(self, life: Life) -> None:
        super().become_pending(life)
        self.sink(life)
        self.begin_to_wait(life)

    def begin_to_wait(self, life: Life) -> None:
        """Again for victims, once the wait of the job that they make room for is noted."""
        standing = self.of(life)
        standing.timers_ms = self.new_timers_ms(life)
        standing.accepts = self.best_level(life)
        self.accept_looser(life)

    def accept_looser(self, life: Life) -> None:
        while self.loosens_ms(life) <= self.now:
            self.of(life).accepts += 1

    def loosens_ms(self, life: Life) -> float:
        """When it accepts the next looser level."""
        standing = self.of(life)
        if standing.accepts == NETWORK:
            return inf
        if not self.holds_out_for(life, standing.accepts):
            return life.pending_since_ms
        return life.pending_since_ms + standing.timers_ms[standing.accepts]

    def new_timers_ms(self, life: Life) -> list[float]:
        untuned = self.settings.timers_ms
        if not self.settings.tuned:
            return untuned
        node, rack = (self.tuned_ms(life, level, untuned[level]) for level in (NODE, RACK))
        return [node, max(node, rack)]

    def tuned_ms(self, life: Life, level: int, untuned_ms: float) -> float:
        kind = (level, width(life.job.gpus))
        since = self.bin() - BINS
        waits = [wait for wait in self.waits if (wait.level, wait.width) == kind and wait.bin > since]
        if len(waits) < self.settings.least_entries:
            return untuned_ms
        everyone = [wait.seconds for wait in waits]
        seen = [wait.seconds for wait in waits if not wait.censored]
        timer_ms = mean_and_deviations_ms(everyone, seen, self.settings.deviations)
        return min(max(timer_ms, to_ms(self.settings.shortest_timer_s)), to_ms(self.settings.longest_timer_s))

    def bin(self) -> int:
        return self.now * BINS // to_ms(self.settings.history_s)

    def note_wait(self, life: Life) -> None:
        """The job has been started by an offer."""
        at, waited = self.level_of(life.place), self.now - life.pending_since_ms
        for level in range(self.best_level(life), min(at, RACK) + 1):
            if self.holds_out_for(life, level):
                counts = waited if level == at else min(waited, self.of(life).timers_ms[level])
                self.waits.append(
                    Wait(self.bin(), level, width(life.job.gpus), int(counts) // 1000, censored=level != at)
                )

    # -- service ----------------------------------------------------------------------------------------

    def sink(self, life: Life) -> None:
        """Count the thresholds that the job has reached."""
        service, standing = self.service(life), self.of(life)
        while standing.level < self.settings.levels and self.threshold(standing.level) <= service:
            standing.level += 1
        while standing.as_victim < self.settings.levels and self.threshold_as_victim(life) <= service:
            standing.as_victim += 1
            self.changed = True

    def threshold_as_victim(self, life: Life) -> int:
        return self.threshold(self.of(life).as_victim) + self.surcharge(life)

    def service(self, life: Life) -> float:
        """GPU-ms."""
        return life.job.gpus * self.work_done(life) if self.settings.sensitive else self.attained(life)

    def threshold(self, level: int) -> int:
        return to_ms(self.settings.first_level_gpu_s * 2**level)

    def count_sinks(self, life: Life) -> None:
        standing = self.of(life)
        standing.sinks_ms = inf
        if standing.as_victim < self.settings.levels:
            ahead, rate = self.threshold_as_victim(life) - self.service(life), life.rate
            standing.sinks_ms = self.now + ceil(ahead / (life.job.gpus * (rate if self.settings.sensitive else 1)))

    # -- events -----------------------------------------------------------------------------------------

    def due(self, life: Life) -> Any:
        yield from super().due(life)
        if life.state == "PENDING" and self.loosens_ms(life) < inf:
            yield self.loosens_ms(life)
        if life.state == "RUNNING":
            yield from (at for at in self.levels_due(life) if at < inf)

    def levels_due(self, life: Life) -> list[float]:
        standing = self.of(life)
        return [standing.sinks_ms] + [self.quantum_ends_ms(life)] * (not standing.past_quantum)

    def quantum_ends_ms(self, life: Life) -> int:
        return life.running_from_ms + to_ms(self.settings.quantum_s)

    def apply_level(self) -> bool:
        for life in self.having("RUNNING"):
            if min(self.levels_due(life)) <= self.now:
                standing = self.of(life)
                past = self.now >= self.quantum_ends_ms(life)
                self.changed |= past and not standing.past_quantum
                standing.past_quantum = past
                self.sink(life)
                self.count_sinks(life)
                return True
        return False

    def apply_timer(self) -> bool:
        for life in self.having("PENDING"):
            if self.loosens_ms(life) <= self.now:
                self.accept_looser(life)
                return True
        return super().apply_timer()

    def begin_to_run(self, life: Life) -> None:
        super().begin_to_run(life)
        self.of(life).past_quantum = False
        self.of(life).past_quantum = self.quantum_ends_ms(life) <= self.now
        self.count_sinks(life)


def width(gpus: int) -> int:
    """ceil(log2 gpus)."""
    return (gpus - 1).bit_length()


def mean_and_deviations_ms(everyone: Sequence[int], seen: Sequence[int], deviations: float) -> int:
    """ceil(1000 (mean of everyone + deviations · population standard deviation of the seen)), exactly."""
    mean_ms = Fraction(1000 * sum(everyone), len(everyone))
    variance = Fraction(0)
    if seen:
        variance = Fraction(sum(s * s for s in seen), len(seen)) - Fraction(sum(seen), len(seen)) ** 2
    square = (1000 * Fraction(deviations)) ** 2 * variance
    timer_ms = ceil(mean_ms) + isqrt(int(square)) - 1
    while timer_ms < mean_ms or (timer_ms - mean_ms) ** 2 < square:
        timer_ms += 1
    return timer_ms
