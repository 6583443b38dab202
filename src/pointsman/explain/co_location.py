"""Room for a waiting job beside others at an instant: free GPUs, those of partners, and when there will be enough.

What the policies of `policies.sharing.sjf_bsbf` compute in a scheduling cycle (``docs/reference/semantics.md`` §10) is
computed here for one instant, by calling their functions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.rate_models.told import slow_down
from pointsman.engine.state.records import ACCUMULATIONS, State
from pointsman.policies.parts.pair_theorem import in_turn_ms, together_ms
from pointsman.policies.parts.partners import fitting, may_share, type_of
from pointsman.types import JobState, NodeState

ACTIVE = (JobState.RUNNING, JobState.STARTING)


@dataclass(frozen=True)
class Partner:
    """A job with GPUs to itself, and what sharing them would bring."""

    slot: int
    gpus: NDArray[np.int64]
    accumulation: int
    """The steps that make room beside it; 0 if none do."""
    together_ms: float = np.inf
    """Mean time to the end of the two if they share."""
    in_turn_ms: float = np.inf

    @property
    def pays(self) -> bool:
        """Whether the two end sooner in the mean if they share."""
        return self.accumulation > 0 and self.together_ms < self.in_turn_ms


@dataclass(frozen=True)
class Offer:
    """What one alternative of a waiting job's demand has for it."""

    asked: int
    usable: NDArray[np.int64]
    """GPUs of UP nodes that it may use."""
    free: int
    partners: list[Partner]
    """Those with which it pays first, and of them the best."""
    may_share: bool
    """Whether it could ever go beside another job."""

    @property
    def paying(self) -> list[Partner]:
        """Partners that the policy would take."""
        return [partner for partner in self.partners if partner.pays]

    @property
    def beside(self) -> int:
        """GPUs that these have."""
        return sum(len(partner.gpus) for partner in self.paying)

    @property
    def enough(self) -> bool:
        """Whether the job could start."""
        return self.free + self.beside >= self.asked

    @property
    def chosen(self) -> list[Partner]:
        """The fewest of the best that are enough."""
        best = self.paying
        covered = np.cumsum([self.free, *(len(partner.gpus) for partner in best)])
        return best[: int(np.searchsorted(covered, self.asked))]


class RoomBeside:
    """A state in which jobs share GPUs, at an instant; `any_partner`: any with enough memory will do."""

    def __init__(self, state: State, now_ms: int, *, any_partner: bool) -> None:
        self.state: Any = State(*(a.view(np.recarray) if a.dtype.names else a for a in state))
        self.now_ms, self.any_partner = now_ms, any_partner
        self.node = np.repeat(np.arange(len(state.nodes)), state.nodes["gpus"])

    def offers(self, slot: int) -> list[Offer]:
        """What each alternative has for waiting job `slot`, in order."""
        demand = self.state.classes[int(self.state.jobs[slot].cls)]
        return [self._offer(slot, a) for a in range(demand.alt, demand.alt_end)]

    def _offer(self, slot: int, a: int) -> Offer:
        alternative, nodes, used = self.state.alts[a], self.state.nodes, self.state.gpus["used"]
        pools = self.state.ints[alternative.pool : alternative.pool_end]
        up = np.isin(nodes["pool"], pools) & (nodes["state"] == NodeState.UP)
        usable = np.flatnonzero(up[self.node])
        may = bool(_plain(may_share)(self.state, slot))
        partners = self._partners(slot, int(_plain(type_of)(self.state, a)), usable) if may else []
        return Offer(int(self.state.jobs[slot].asked), usable, int((used[usable] == 0).sum()), partners, may)

    def _partners(self, slot: int, kind: int, usable: NDArray[np.int64]) -> list[Partner]:
        nodes, at = self.state.nodes, self.node[usable]
        divided = nodes["fractions"][at] >> (usable - nodes["gpu0"][at]) & 1
        single = usable[(self.state.gpus["used"][usable] == 1) & (divided == 0)]
        owner = self.state.occupants[single, 0]
        owners = [int(b) for b in np.unique(owner) if self.state.jobs[b].state in ACTIVE]
        make = self._any_partner if self.any_partner else self._partner
        found = [make(slot, kind, b, single[owner == b]) for b in owners]
        best_first = (lambda p: p.gpus[0]) if self.any_partner else (lambda p: p.together_ms)
        return sorted(found, key=lambda p: (not p.pays, best_first(p), self.state.jobs[p.slot].row))

    def _partner(self, slot: int, kind: int, b: int, gpus: NDArray[np.int64]) -> Partner:
        powers = self._powers(slot, gpus)
        if min(powers) < 0:
            return Partner(b, gpus, 0)
        left, other = self._remaining_ms(slot), self._alone_ms(b)
        own = left * self._stretch(self.state.jobs[slot].speed + kind, max(powers))
        slow = (_plain(slow_down)(self.state, *pair, kind) for pair in ((slot, b), (b, slot)))
        together, in_turn = _plain(together_ms)(own, other, *slow), _plain(in_turn_ms)(left, other)
        return Partner(b, gpus, 1 << max(powers), float(together), float(in_turn))

    def _any_partner(self, slot: int, kind: int, b: int, gpus: NDArray[np.int64]) -> Partner:
        """One that the time is not asked of, on those GPUs where there is room."""
        powers = self._powers(slot, gpus)
        roomy = gpus[np.array(powers) >= 0]
        return Partner(b, roomy, 1 << max(powers), together_ms=0.0) if len(roomy) else Partner(b, gpus, 0)

    def _powers(self, slot: int, gpus: NDArray[np.int64]) -> list[int]:
        """The least accumulation, as a power of two, that fits what is free of each GPU; -1 if none does."""
        free = self.state.gpus["free_bytes"]
        return [int(_plain(fitting)(self.state, slot, self.node[x], free[x])) for x in gpus]

    def _remaining_ms(self, slot: int) -> float:
        job = self.state.jobs[slot]
        done = job.done_when_rated + job.rate * (self.now_ms - job.rated) if job.state == JobState.RUNNING else job.done
        return max(0.0, float(job.estimate - done))

    def _stretch(self, row: int, power: int) -> float:
        return float(self.state.subbatches["stretch"][int(row) * ACCUMULATIONS + power])

    def _alone_ms(self, b: int) -> float:
        """As `policies.parts.pair_theorem` has it."""
        job = self.state.jobs[b]
        if job.rate > 0:
            return self._remaining_ms(b) / float(job.rate * job.slow)
        power = int(job.accumulation).bit_length() - 1
        return self._remaining_ms(b) * self._stretch(job.speed + max(0, job.gpu_type), power)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """A leaf of the compiled core as Python has it."""
    return getattr(function, "py_func", function)
