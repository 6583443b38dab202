"""``measure step``: the time of a training step, at several batches and in several parts."""

from collections.abc import Sequence
from typing import Final

from pointsman.measure.bench import Bench
from pointsman.measure.names import Batches, Model
from pointsman.measure.plan import Cells, Item
from pointsman.measure.process import Slot
from pointsman.speed.fitting.measurements import COLUMNS as READ
from pointsman.speed.measured_rows import ABOUT

COLUMNS: Final = (*READ.required, "gradient_bytes", "parts", "samples_per_s", "memory_bytes", *ABOUT)
USUAL: Final = (1.0, 0.25, 0.5)
"""Shares of its usual batch at which a model is measured."""


def items(bench: Bench, slot: Slot, models: Sequence[Model], batches: Batches, parts: Sequence[int]) -> list[Item]:
    """First each model at one batch, then its other ones, then in parts."""
    sizes = {model: batches.of(model, USUAL) for model in models}
    order = [
        (model, sizes[model][level])
        for level in range(max(map(len, sizes.values())))
        for model in models
        if level < len(sizes[model])
    ]
    return [
        _item(bench, slot, model, batch, cut)
        for cut in dict.fromkeys((1, *parts))
        for model, batch in order
        if cut <= batch
    ]


def _item(bench: Bench, slot: Slot, model: Model, batch: int, parts: int) -> Item:
    setting = bench.setting(model.definition, batch, parts)

    def measured() -> list[Cells]:
        found = bench.run([(setting, slot)])
        (step_s,), (memory_bytes,) = found.step_s, found.memory_bytes
        return [
            {
                "step_s": step_s,
                "gradient_bytes": bench.pool.gradient_bytes[model.definition] or None,
                "samples_per_s": batch / step_s,
                "memory_bytes": memory_bytes,
                **bench.cells(found, slot),
            }
        ]

    known = {"model": model.name, "gpu_type": bench.machine.gpu_type, "gpus": 1, "nodes": 1}
    title = f"{model.name}, batch {batch}" + (f" in {parts} parts" if parts > 1 else "")
    return Item(title, [{**known, "batch_per_gpu": batch, "parts": parts}], measured, [setting])
