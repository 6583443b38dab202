"""Sections 7, 8 and 15: placers where jobs slow each other on nodes and on links, and what they forecast of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .model import Job, Place
from .nodes import Neighbours, Slowing, part
from .placers import PLACERS, settings_of
from .schedulers import PlacerWorld
from .sharing import SharedSchedule, SharingWorld, simulate
from .speeds import ALONE, Felt, Speeds, rounded
from .uplinks import OF_NODES, Contention, Ring, by_level, by_rings, capacities, ring_of
from .world import Life


@dataclass
class PlacerOnNodes(SharingWorld, PlacerWorld):
    forecasts: Slowing | None = None
    """By what the policy forecasts, if not by the run's own."""

    # -- on a node --------------------------------------------------------------------------------------

    def sockets(self, node: int) -> int:
        for known in (self.neighbours, self.forecasts):
            if isinstance(known, Neighbours):
                return known.hosts[node].sockets
        return super().sockets(node)

    def idle_share(self, node: int, life: Life, workers: int) -> float:
        known = self.neighbours
        if not isinstance(known, Neighbours):
            return 1.0
        there = {other.row: sum(at[0] == node for at in other.place) for other in self.having("RUNNING")}
        gpus = [(self.as_run(self.lives[row]), many) for row, many in (there | {life.row: workers}).items()]
        busy = sum(many * part(job, known.takes[job.model].cores) for job, many in gpus if job.model in known.takes)
        capacity = 1000 * known.hosts[node].cores
        return (capacity - busy) / capacity

    def slowed(self, life: Life, place: Place) -> float:
        return self.slowed_beside(life, place, {other.row: other.place for other in self.having("RUNNING")})

    def slowed_beside(self, life: Life, place: Place, running: dict[int, Place]) -> float:
        forecasts = self.forecasts or self.neighbours
        if forecasts is None:
            return 1.0
        others = [(self.as_run(self.lives[row]), at) for row, at in running.items() if row != life.row]
        return forecasts.psi(self.as_run(life), place, others)

    # -- on links ---------------------------------------------------------------------------------------

    def ring(self, row: int, place: Place) -> Ring | None:
        assert self.contention is not None
        return ring_of(self.lives[row].job, place, 1, self.speeds, self.contention)

    def overload(self, node: int) -> float:
        if self.contention is None or self.contention.how == "level":
            return 1.0
        rings = [self.ring(life.row, life.place) for life in self.having("RUNNING")]
        room = capacities(self.speeds)
        mine = [(kind, node) for kind in OF_NODES if (kind, node) in room]
        wanted = {uplink: sum(ring.wants for ring in rings if ring and uplink in ring.crosses) for uplink in mine}
        return max(1.0, *(wanted[uplink] / room[uplink] for uplink in mine))

    def felt_on_links(self, places: dict[int, Place]) -> dict[int, Felt]:
        """By the worst uplink of each ring alone."""
        if self.contention is None:
            return dict.fromkeys(places, ALONE)
        rings = {row: self.ring(row, place) for row, place in places.items()}
        felt = {row: 1.0 if ring is None else self.held_back(ring, list(rings.values())) for row, ring in rings.items()}
        whole = self.contention.how == "duty-cycle"
        return {row: Felt(whole=longer) if whole else Felt(wire=longer) for row, longer in felt.items()}

    def held_back(self, ring: Ring, rings: list[Ring | None]) -> float:
        assert self.contention is not None
        room = capacities(self.speeds)
        if self.contention.how == "node-link":
            return by_rings(ring, rings, self.contention.penalty)
        if self.contention.how == "level":
            return by_level(ring, rings, room)
        wanted = {up: sum(other.wants for other in rings if other and up in other.crosses) for up in ring.crosses}
        return max(1.0, *(wanted[uplink] / room[uplink] for uplink in ring.crosses))

    # -- both -------------------------------------------------------------------------------------------

    def forecast(self, trial: dict[int, Place]) -> dict[int, float]:
        places = {life.row: life.place for life in self.having("RUNNING")} | trial
        felt = self.felt_on_links(places)
        return {row: self.rate_of(self.lives[row], place, felt[row], places) for row, place in places.items()}

    def rate_of(self, life: Life, place: Place, felt: Felt, running: dict[int, Place]) -> float:
        longer = Felt(felt.wire, felt.whole, self.slowed_beside(life, place, running))
        return rounded(self.speeds.rate(life.job, place, 1, longer))


def run_placer(
    speeds: Speeds,
    jobs: Sequence[Job],
    policy: str,
    *,
    params: Mapping[str, Any],
    seed: int,
    contention: Contention | None = None,
    neighbours: Slowing | None = None,
    forecasts: Slowing | None = None,
    **other: Any,
) -> SharedSchedule:
    """As `sharing.simulate`, under a placer."""
    make = partial(PlacerOnNodes, seed=seed, forecasts=forecasts, **settings_of(policy, params))
    return simulate(
        speeds, jobs, PLACERS[policy], make=make, placement="tightest", contention=contention, neighbours=neighbours,
        **other,
    )  # fmt: skip
