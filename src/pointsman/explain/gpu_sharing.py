"""What `explain` says where jobs share GPUs: beside whom a job runs or would, and why not (``semantics.md`` §10)."""

from collections.abc import Callable, Sequence

import numpy as np

from pointsman.engine.placement.occupancy import WHOLE
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.prepare import Prepared
from pointsman.explain.co_location import Offer, Partner, RoomBeside
from pointsman.inputs.durations import digits, duration
from pointsman.inputs.messages import counted
from pointsman.types import NEVER_MS, JobState, Reason

NAMED = 3
"""Jobs that a sentence names; the others are counted."""


def shares(simulation: Simulation) -> bool:
    """Whether jobs that run at rates may share GPUs."""
    g = simulation.handle.state.g[0]
    return int(g["jobs_per_gpu"]) > 1 and not g["counts_iterations"]


class BesideOthers:
    """Jobs that share GPUs at an instant, in words; `instant` says a time of the engine's."""

    def __init__(self, simulation: Simulation, prepared: Prepared, now_ms: int, instant: Callable[[int], str]) -> None:
        self.gate: str | None = getattr(simulation.policy, "sharing_gate", None)
        self.room = RoomBeside(simulation.handle.state, now_ms, any_partner=self.gate == "none")
        self.state, self.prepared, self.instant, self.simulation = self.room.state, prepared, instant, simulation

    def part(self, slot: int) -> str:
        """``0.3 of a GPU`` if the job asks for that, else nothing."""
        milli = int(self.state.classes[int(self.state.jobs[slot].cls)].milli)
        return f"{digits(milli / WHOLE)} of a GPU" if milli < WHOLE else ""

    def holding(self, slot: int) -> str:
        """Beside whom a job is, how much slower for it, and in how many steps; between commas, or nothing."""
        job, occupants = self.state.jobs[slot], self.state.occupants
        others = np.setdiff1d(occupants[(occupants == slot).any(axis=1)], (-1, slot)).tolist()
        slow = float(job.slow) if job.state == JobState.RUNNING else 1.0
        beside = f"shared with {self._ids(others)}" if others else ""
        slower = f"an iteration taking {digits(slow)} times as long for it" if slow > 1 else ""
        steps = f"with {_steps(int(job.accumulation))}" if job.accumulation > 1 else ""
        said = [words for words in (beside, slower, steps) if words]
        return f", {', '.join(said)}," if said else ""

    def waiting(self, slot: int) -> tuple[Reason, str] | None:
        """Why waiting job `slot`, for which too few GPUs are free, is not beside others; None if it never would be."""
        if part := self.part(slot):
            return Reason.Resources, f"needs {part}; none of those it may use is free, or divided with as much left"
        if self.gate is None:
            return None
        offers = self.room.offers(slot)
        offer = next((o for o in offers if o.enough), max(offers, key=lambda o: o.free + o.beside))
        if not offer.enough:
            return Reason.Resources, f"{self._has(offer)}; {self._soonest(slot)}"
        reason, held = self._held_back(slot)
        return reason, f"{_needs(offer)}; it could go beside {self._all_told(offer.chosen)}, {held}"

    def _held_back(self, slot: int) -> tuple[Reason, str]:
        """Why a job that could share does not: its queue's limit, our gate, its rounds, or its choice."""
        g, queue = self.state.g[0], self.state.queues[int(self.state.jobs[slot].queue)]
        if queue.limit >= 0 and queue.closed == g.pass_id:
            return Reason.Priority, "but a job ahead of it is held by the limit of their queue, and so is it"
        if self.gate == "joint" and g.round_ms == 0:
            return Reason.Resources, "but all of them together would end later for it (gate joint)"
        return Reason.HeldByDelay, "but the policy " + ("decides in rounds" if g.round_ms else "has not started it")

    def _has(self, offer: Offer) -> str:
        """What there is for a job, and if none is a partner, why."""
        if not offer.may_share:
            return f"{_needs(offer)}, and it cannot share GPUs, because its model has no profile"
        if not offer.partners:
            return f"{_needs(offer)}, and no GPU has exactly one job to share with"
        if offer.paying:
            what = "there is room beside" if self.room.any_partner else "sharing is beneficial with"
            return f"{_needs(offer)}, and {what} {self._all_told(offer.paying)}: {_gpus(offer.beside)} more"
        slots = [partner.slot for partner in offer.partners]
        best = next((partner for partner in offer.partners if partner.accumulation), None)
        if best is None:
            return f"{_needs(offer)}, and beside {self._ids(slots)} there is too little memory"
        among = (
            f"is beneficial with none of {len(slots)} partners, the best being"
            if len(slots) > 1
            else "is not beneficial with"
        )
        return f"{_needs(offer)}, and sharing {among} {self._describe_partner(best)}"

    def _soonest(self, slot: int) -> str:
        """When it would start if no other job came and jobs ended as told, after whose end, beside which."""
        row = int(self.state.jobs[slot].row)
        end = self._future(NEVER_MS - 1).handle.world.outcomes
        start_ms = int(end["start"][row])
        if end["state"][row] == 0 or start_ms < 0:
            return "by the estimated durations there will never be enough"
        enders = np.flatnonzero((end["end"] == start_ms) & (end["state"] != 0) & (np.arange(len(end)) != row)).tolist()
        occupants = self._future(start_ms).handle.state.occupants
        others = np.setdiff1d(occupants[(occupants == slot).any(axis=1)], (-1, slot)).tolist()
        when = f", when {self._name_jobs(enders)} end{'s' if len(enders) == 1 else ''}" if enders else ""
        beside = f", beside {self._ids(others)}" if others else ""
        return (
            f"by the estimated durations, if no other job arrives, it starts at {self.instant(start_ms)}{when}{beside}"
        )

    def _future(self, until_ms: int) -> Simulation:
        """What would happen up to then under the same policy, as far as anybody can know."""
        future = self.simulation.foreseen()
        future.run(until_ms)
        return future

    def _all_told(self, partners: Sequence[Partner]) -> str:
        told = [self._describe_partner(partner) for partner in partners[:NAMED]]
        return ", ".join(told) + (f" and {counted(len(partners) - NAMED, 'other')}" if len(partners) > NAMED else "")

    def _describe_partner(self, partner: Partner) -> str:
        """``job a (mean time to the end 10 s together, 15 s in turn)``."""
        said = [] if self.room.any_partner else [f"mean time to the end {_times(partner)}"]
        said += [_steps(partner.accumulation)] if partner.accumulation > 1 else []
        return self._ids([partner.slot]) + (f" ({'; '.join(said)})" if said else "")

    def _ids(self, slots: Sequence[int]) -> str:
        """``job a``; ``jobs a and b``; ``jobs a, b, c and 2 others``."""
        return self._name_jobs([int(self.state.jobs[slot].row) for slot in slots])

    def _name_jobs(self, rows: Sequence[int]) -> str:
        ids = [str(self.prepared.jobs["job_id"][row]) for row in rows[:NAMED]]
        if len(rows) == 1:
            return f"job {ids[0]}"
        if len(rows) > NAMED:
            return f"jobs {', '.join(ids)} and {counted(len(rows) - NAMED, 'other')}"
        return f"jobs {', '.join(ids[:-1])} and {ids[-1]}"


def _needs(offer: Offer) -> str:
    return f"needs {_gpus(offer.asked)}; {offer.free} of those it may use are free"


def _times(partner: Partner) -> str:
    together, in_turn = duration(partner.together_ms / 1000), duration(partner.in_turn_ms / 1000)
    return f"{together} together, {in_turn} in turn"


def _gpus(n: int) -> str:
    return counted(n, "GPU")


def _steps(accumulation: int) -> str:
    return counted(accumulation, "step of accumulation", "steps of accumulation")
