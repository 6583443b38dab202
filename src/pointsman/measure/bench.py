"""Where and how things are measured: jobs on a machine, and their times alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.errors import UsageError
from pointsman.measure.machine import Machine, clock_mhz
from pointsman.measure.messages import Setting
from pointsman.measure.plan import Cells
from pointsman.measure.pool import Place, Pool, letter, name_job
from pointsman.measure.process import JobFailed, Slot, TimeIsOver
from pointsman.measure.rounds import Limits, Measured, measure
from pointsman.speed.interference.pairs import FASTEST


@dataclass
class Bench:
    """Where and how things are measured."""

    pool: Pool
    machine: Machine
    limits: Limits
    precision: str
    _clock: dict[Slot, str] = field(default_factory=dict)

    def about(self) -> dict[str, str]:
        """The cells that all rows have in common."""
        return {**self.machine.about(), "precision": self.precision}

    def run(self, places: Sequence[Place]) -> Measured:
        """Measure jobs that run at the same time; JobFailed if one cannot, TimeIsOver."""
        slot = places[0][1]

        def look() -> None:
            self._clock[slot] = clock_mhz(self.machine, slot)

        try:
            return measure(self.pool.take(places), self.limits, look)
        except UsageError as error:  # a function that was right at another batch
            self.pool.drop()
            raise JobFailed(str(error)) from None
        except (JobFailed, TimeIsOver):
            self.pool.drop()
            raise

    def cells(self, found: Measured, slot: Slot, alone: Sequence[Measured] = ()) -> Cells:
        """What a row says of how it was measured, and what it is compared to."""
        return {
            "rounds": found.rounds,
            "disturbed": found.disturbed,
            "spread": max(each.spread for each in (found, *alone)),
            "clock_mhz": self._clock.get(slot, ""),
        }

    def check(self, settings: Sequence[Setting], slot: Slot) -> None:
        """Build each function of the user's once, in the most parts and at the smallest batch that it is trained with.

        Raises:
            UsageError: one is missing, fails, or returns something else.
        """
        own: dict[str, Setting] = {}
        for setting in sorted(settings, key=lambda each: (-each.parts, each.batch)):
            if ":" in setting.model:
                own.setdefault(setting.model, setting)
        for setting in own.values():
            self.pool.check(setting, slot)

    def setting(self, definition: str, batch: int, parts: int = 1) -> Setting:
        """A training in the precision of this bench."""
        return Setting(definition, batch, parts, self.precision)


class Alone:
    """Step times of jobs that have the device to themselves, each measured when it is first needed."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._found: dict[Place, Measured | JobFailed] = {}

    def runs(self, places: Sequence[Place]) -> int:
        """How many of these jobs have yet to be measured."""
        return sum(place not in self._found for place in dict.fromkeys(places))

    def of(self, place: Place) -> Measured:
        """Measured now or earlier; JobFailed if it cannot run even alone."""
        if place not in self._found:
            try:
                self._found[place] = self._measure(place)
            except JobFailed as failure:
                self._found[place] = JobFailed(f"alone: {failure}")
        found = self._found[place]
        if isinstance(found, JobFailed):
            raise found
        return found

    def _measure(self, place: Place) -> Measured:
        """Once more if its rounds do not agree, since all pairs of the job are compared to it."""
        found = self._bench.run([place])
        if found.spread <= self._bench.limits.spread:
            return found
        return min(found, self._bench.run([place]), key=lambda measured: measured.spread)

    def of_each(self, places: Sequence[Place]) -> list[Measured]:
        """As `of` each; if one of several cannot run, the text of the error says which."""
        found = []
        for i, place in enumerate(places):
            try:
                found.append(self.of(place))
            except JobFailed as failure:
                raise name_job(failure, places, i) from None
        return found

    def of_each_beside(self, places: Sequence[Place], beside: Measured) -> list[Measured]:
        """As `of_each`, for jobs that were measured beside each other; what was slower alone is measured alone again.

        Raises:
            JobFailed: one is still so much slower alone that no reader would believe it.
        """
        for place, step_s in zip(places, beside.step_s, strict=True):
            if step_s < max(1 - self._bench.limits.spread, 1 / FASTEST) * self.of(place).step_s[0]:
                del self._found[place]
                self.of(place)
        times = self.of_each(places)
        for i, alone in enumerate(times):
            check_speed(alone.step_s[0], beside.step_s[i], i)
        return times


def check_speed(alone_s: float, step_s: float, i: int) -> None:
    """JobFailed where a job was so much faster beside others than alone that no reader would believe it."""
    if alone_s > FASTEST * step_s:
        raise JobFailed(
            f"disturbed: job {letter(i)} took {alone_s:.4g} s a step alone, and {step_s:.4g} s beside the others"
        )
