"""A learned picker of jobs (`topdrl`, `deeprm`): the window it sees, what it may do, and the GPUs its jobs get.

Which job it takes of those it may is told: a network is no matter of an oracle.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from .gpu_pickers import PICKERS, Edges, Offer, offer_of
from .placement import alternatives, has_enough
from .policies import Pass
from .world import Life, World


@dataclass(frozen=True)
class Decision:
    """What was seen, and what was done."""

    now_ms: int
    window: list[int]
    """Rows; -1 for none."""
    mask: list[bool]
    """Of the window, and at last of waiting."""
    parts: dict[str, list[float]]
    """The observation, flat."""
    action: int


@dataclass
class LearnedWorld(World):
    gpus: str = "nearest"
    slots: int = 10
    told: list[Decision] = field(default_factory=list)
    observe: "Callable[[LearnedWorld, Pass, list[Life | None]], dict[str, list[float]]] | None" = None

    def offer(self, life: Life) -> Offer | None:
        """Of the first alternative that has enough."""
        for eligible in alternatives(self.nodes, life.job):
            if has_enough(self.nodes, eligible, life.job, {gpu for gpu in self.free() if gpu[0] in eligible}):
                return offer_of(self.nodes, eligible, self.free(), Edges())
        return None

    def can_start(self, life: Life) -> bool:
        limit = self.rules.queue_limits.get(life.job.queue)
        within = limit is None or self.queue_held(life.job.queue) + life.job.gpus <= limit
        return within and self.offer(life) is not None

    def window(self) -> list[Life | None]:
        """The first of each kind of demand, of those first that can start; the second of each, and so on; in order."""
        kinds: dict[object, list[Life]] = {}
        for life in sorted(self.having("PENDING"), key=order):
            job = life.job
            queue = job.queue if job.queue in self.rules.queue_limits else None
            kinds.setdefault((job.gpus, job.per_node, job.gpu_type, job.partition, queue), []).append(life)
        turns = []
        for lives in kinds.values():
            head = 0 if self.can_start(lives[0]) else 1
            turns += [(2 * nth or head, order(life), life) for nth, life in enumerate(lives)]
        seen = [life for *_, life in sorted(turns, key=lambda turn: turn[:2])[: self.slots]]
        empty: list[None] = [None] * (self.slots - len(seen))
        return [*sorted(seen, key=order), *empty]


def order(life: Life) -> tuple[int, int]:
    return -life.job.priority, life.row


def learned(world: World) -> None:
    assert isinstance(world, LearnedWorld)
    this = Pass(world)
    while world.free() and world.having("PENDING"):
        window = world.window()
        can = [life is not None and world.can_start(life) for life in window]
        if not any(can):
            return
        decision = world.told.pop(0)
        assert decision.now_ms == world.now, f"at {world.now} ms a decision that the other program has not"
        assert decision.window == [-1 if life is None else life.row for life in window]
        assert decision.mask == [*can, bool(world.having("RUNNING", "STARTING", "STOPPING"))]
        if world.observe is not None:
            for name, wanted in world.observe(world, this, window).items():
                found = decision.parts[name]
                far = [i for i, (a, b) in enumerate(zip(found, wanted, strict=True)) if abs(a - b) > 1e-5]
                assert not far, f"at {world.now} ms {name}[{far[0]}] is {found[far[0]]}, not {wanted[far[0]]}"
        if decision.action == world.slots:
            return
        life = window[decision.action]
        assert life is not None
        offer = world.offer(life)
        assert offer is not None
        shaped = world.find_place(life, world.free()) if life.job.per_node else None
        this.start_on(life, shaped or PICKERS[world.gpus](offer, life.job.gpus).place())
