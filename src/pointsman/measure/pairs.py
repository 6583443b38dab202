"""``measure pairs``: how much two jobs on one device slow each other."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import Final, NamedTuple

from pointsman.measure.messages import Setting
from pointsman.measure.names import Batches, Model
from pointsman.measure.plan import Bench, Cells, Item
from pointsman.measure.pool import Place, name_job
from pointsman.measure.process import JobFailed, Slot
from pointsman.measure.rounds import Measured
from pointsman.speed.interference.pairs import FASTEST, TIMES, UNREAD

COLUMNS: Final = ("gpu_type", "model_a", "model_b", "batch_a", "batch_b", *TIMES, *UNREAD)


class Alone:
    """Step times of jobs that have the device to themselves, each measured when it is first needed."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._found: dict[Place, Measured | JobFailed] = {}

    def of(self, place: Place) -> Measured:
        """Measured now or earlier; JobFailed if it cannot run even alone."""
        if place not in self._found:
            try:
                self._found[place] = self._bench.run([place])
            except JobFailed as failure:
                self._found[place] = JobFailed(f"alone: {failure}")
        found = self._found[place]
        if isinstance(found, JobFailed):
            raise found
        return found

    def of_each(self, places: Sequence[Place]) -> list[Measured]:
        """As `of` each; if one of several cannot run, the text of the error says which."""
        found = []
        for i, place in enumerate(places):
            try:
                found.append(self.of(place))
            except JobFailed as failure:
                raise name_job(failure, places, i) from None
        return found

    def measure_again(self, place: Place) -> None:
        """It was disturbed; JobFailed as for `of`."""
        del self._found[place]
        self.of(place)


class _Side(NamedTuple):
    model: Model
    setting: Setting


def items(bench: Bench, slot: Slot, models: Sequence[Model], batches: Batches, parts: Sequence[int]) -> list[Item]:
    """First what a law of all models needs at least (each beside itself and beside the next), then the other pairs,
    then batches in parts.
    """
    alone = Alone(bench)
    cuts = dict.fromkeys((1, *parts))
    sides = {(model, cut): _side(bench, model, batches, cut) for model in models for cut in cuts}
    ordered = sorted(product(cuts, cuts), key=lambda both: both != (1, 1))
    return [
        _item(bench, slot, alone, sides[a, i], sides[b, j])
        for i, j in ordered
        for a, b in _pairs(models)
        if a != b or i <= j
        if max(i / sides[a, i].setting.batch, j / sides[b, j].setting.batch) <= 1
    ]


def check_speed(alone_s: float, step_s: float, i: int) -> None:
    """JobFailed where a job was so much faster beside the other than alone that no reader would believe it."""
    if alone_s > FASTEST * step_s:
        which = "ab"[i]
        raise JobFailed(
            f"disturbed: job {which} took {alone_s:.4g} s a step alone, and {step_s:.4g} s beside the other"
        )


def _pairs(models: Sequence[Model]) -> list[tuple[Model, Model]]:
    first = [
        pair
        for i, one in enumerate(models)
        for pair in ((one, one), *((one, other) for other in models[i + 1 : i + 2]))
    ]
    return list(dict.fromkeys([*first, *combinations_with_replacement(models, 2)]))


def _side(bench: Bench, model: Model, batches: Batches, cut: int) -> _Side:
    return _Side(model, bench.setting(model.place, batches.only(model), cut))


def _item(bench: Bench, slot: Slot, alone: Alone, a: _Side, b: _Side) -> Item:
    def measured() -> list[Cells]:
        places = [(a.setting, slot), (b.setting, slot)]
        alone.of_each(places)
        found = bench.run(places)
        for place, step_s in zip(places, found.step_s, strict=True):
            if step_s < max(1 - bench.limits.spread, 1 / FASTEST) * alone.of(place).step_s[0]:
                alone.measure_again(place)
        times = alone.of_each(places)
        for i, one in enumerate(times):
            check_speed(one.step_s[0], found.step_s[i], i)
        return [
            {
                **{f"alone_s_{ab}": one.step_s[0] for ab, one in zip("ab", times, strict=True)},
                **{f"step_s_{ab}": step_s for ab, step_s in zip("ab", found.step_s, strict=True)},
                **{f"memory_bytes_{ab}": memory for ab, memory in zip("ab", found.memory_bytes, strict=True)},
                **bench.cells(found, slot),
            }
        ]

    known: Cells = {"gpu_type": bench.machine.gpu_type}
    for ab, side in (("a", a), ("b", b)):
        known |= {f"model_{ab}": side.model.name, f"batch_{ab}": side.setting.batch, f"parts_{ab}": side.setting.parts}
    return Item(f"{_title(a)} beside {_title(b)}", [known], measured)


def _title(side: _Side) -> str:
    return side.model.name + (f" in {side.setting.parts} parts" if side.setting.parts > 1 else "")
