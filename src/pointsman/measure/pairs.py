"""``measure pairs``: how much two jobs on one device slow each other."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import Final, NamedTuple

from pointsman.measure.bench import Alone, Bench
from pointsman.measure.messages import Setting
from pointsman.measure.names import Batches, Model
from pointsman.measure.plan import Cells, Item
from pointsman.measure.process import Slot
from pointsman.speed.interference.pairs import TIMES, UNREAD

COLUMNS: Final = ("gpu_type", "model_a", "model_b", "batch_a", "batch_b", *TIMES, *UNREAD)


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


def _pairs(models: Sequence[Model]) -> list[tuple[Model, Model]]:
    first = [
        pair
        for i, one in enumerate(models)
        for pair in ((one, one), *((one, other) for other in models[i + 1 : i + 2]))
    ]
    return list(dict.fromkeys([*first, *combinations_with_replacement(models, 2)]))


def _side(bench: Bench, model: Model, batches: Batches, cut: int) -> _Side:
    return _Side(model, bench.setting(model.definition, batches.only(model), cut))


def _item(bench: Bench, slot: Slot, alone: Alone, a: _Side, b: _Side) -> Item:
    places = [(a.setting, slot), (b.setting, slot)]

    def measured() -> list[Cells]:
        alone.of_each(places)
        found = bench.run(places)
        times = alone.of_each_beside(places, found)
        return [
            {
                **{f"alone_s_{ab}": one.step_s[0] for ab, one in zip("ab", times, strict=True)},
                **{f"step_s_{ab}": step_s for ab, step_s in zip("ab", found.step_s, strict=True)},
                **{f"memory_bytes_{ab}": memory for ab, memory in zip("ab", found.memory_bytes, strict=True)},
                **bench.cells(found, slot, times),
            }
        ]

    known: Cells = {"gpu_type": bench.machine.gpu_type}
    for ab, side in (("a", a), ("b", b)):
        known |= {f"model_{ab}": side.model.name, f"batch_{ab}": side.setting.batch, f"parts_{ab}": side.setting.parts}
    settings = (a.setting, b.setting)
    return Item(f"{_title(a)} beside {_title(b)}", [known], measured, settings, lambda: 1 + alone.runs(places))


def _title(side: _Side) -> str:
    return side.model.name + (f" in {side.setting.parts} parts" if side.setting.parts > 1 else "")
