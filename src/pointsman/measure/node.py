"""``measure node``: how much jobs on different GPUs, or different cores, of one node slow each other."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import Final

from pointsman.measure.bench import Alone, Bench
from pointsman.measure.messages import Setting
from pointsman.measure.names import Batches, Model
from pointsman.measure.plan import Cells, Item
from pointsman.measure.process import Slot
from pointsman.speed.interference.learned.measured import COLUMNS as READ
from pointsman.speed.measured_rows import ABOUT

COLUMNS: Final = (*READ.required, "gpu", "batch", "memory_bytes", *ABOUT)


def items(bench: Bench, slots: Sequence[Slot], models: Sequence[Model], batches: Batches) -> list[Item]:
    """First each model alone, then pairs on the first two slots, then one job of a model beside many of another."""
    sizes = {model: batches.only(model) for model in models}
    pairs = [(a, b) for a, b in combinations_with_replacement(models, 2)]
    full = [(a, *[b] * (len(slots) - 1)) for a, b in product(models, models)] if len(slots) > 2 else []
    alone = Alone(bench)
    return [_item(bench, slots, alone, jobs, sizes) for jobs in [*((model,) for model in models), *pairs, *full]]


def _item(bench: Bench, slots: Sequence[Slot], alone: Alone, jobs: tuple[Model, ...], sizes: dict[Model, int]) -> Item:
    settings: list[Setting] = [bench.setting(model.definition, sizes[model]) for model in jobs]

    places = list(zip(settings, slots, strict=False))
    beside = len(jobs) > 1

    def measured() -> list[Cells]:
        times = alone.of_each(places)
        found = bench.run(places) if beside else times[0]
        times = alone.of_each_beside(places, found)
        return [
            {
                "alone_s": one.step_s[0],
                "step_s": step_s,
                "memory_bytes": memory_bytes,
                **bench.cells(found, slots[0], times),
            }
            for one, step_s, memory_bytes in zip(times, found.step_s, found.memory_bytes, strict=True)
        ]

    known: list[Cells] = [
        {
            "gpu_type": bench.machine.gpu_type,
            "node_gpus": len(slots),
            "model": model.name,
            "others": _others(jobs[:i] + jobs[i + 1 :]),
            "gpu": _name(slots[i]),
            "batch": sizes[model],
        }
        for i, model in enumerate(jobs)
    ]
    title = " + ".join(model.name for model in jobs)
    return Item(title, known, measured, settings, lambda: beside + alone.runs(places))


def _others(jobs: Sequence[Model]) -> str:
    """``vgg16*1 + wlm*2``: other jobs on the node, by model."""
    counts = Counter(model.name for model in jobs)
    return " + ".join(f"{name}*{count}" for name, count in sorted(counts.items()))


def _name(slot: Slot) -> str:
    """``cuda:1``, or ``cpu:0-1`` for the first two cores."""
    return f"{slot.device}:{'-'.join(map(str, slot.cores))}" if slot.cores else slot.device
