"""The published step times of ``../shared/data/profiles`` as the fit takes them."""

import csv
import gzip
from collections.abc import Iterator
from math import nan
from pathlib import Path

from pointsman.speed import load_catalogue
from pointsman.speed.fitting.measurements import Step

PROFILES = Path(__file__).parents[2] / "shared" / "data" / "profiles"
CATALOGUE = load_catalogue()
OWN_GRADIENT_BYTES = {"resnet50_cifar10": 94.1e6}
"""Of models that the catalogue does not have: ResNet-50 with ten classes, 23.5 M parameters of 4 bytes."""
NODE_GPUS = 8


def rows(name: str, folder: Path = PROFILES) -> list[dict[str, str]]:
    """A table of the folder."""
    opened = gzip.open if name.endswith(".gz") else open
    with opened(folder / name, "rt") as file:
        return list(csv.DictReader(file))


def sources() -> dict[str, list[Step]]:
    """Measured steps by where they come from; each is of one cluster and one GPU type."""
    found = {"Pollux, T4": list(_pollux()), "ElasticFlow, A100": list(_elasticflow())}
    for gpu_type in ("k80", "p100", "v100"):
        found[f"Gavel, {gpu_type.upper()}"] = [step for step in _gavel() if step.gpu_type == gpu_type]
    return found


def _pollux() -> Iterator[Step]:
    """Placements are given node by node, but for the runs on more than 16 GPUs: those are taken to be even."""
    for line, r in enumerate(rows("dl_step_times.csv"), 2):
        placement = _descending(r["placement"]) if r["placement"] else even(int(r["n_gpus"]), int(r["n_nodes"]))
        times = float(r["step_time_s"]), float(r["sync_time_s"])
        yield _step(line, CATALOGUE.model_name(r["model"]), "t4", placement, float(r["local_batch"]), *times)


def _gavel() -> Iterator[Step]:
    """Steps/s are summed over the GPUs, batches are per GPU; consolidated is one node, unconsolidated a GPU a node."""
    for line, r in enumerate(rows("gavel_isolated.csv"), 2):
        gpus, rate, spread = int(r["n_gpus"]), float(r["steps_per_s"]), r["placement"] == "unconsolidated"
        if r["source"] == "gavel_physical" and rate > 0 and not (spread and gpus == 1):
            placement = (1,) * gpus if spread else (gpus,)
            batch = float(r["batch_size"]) or 1.0
            yield _step(line, CATALOGUE.model_name(r["model"]), r["gpu_type"], placement, batch, gpus / rate)


def _elasticflow() -> Iterator[Step]:
    """Batches are global; nodes have 8 GPUs. Its names are kept: it measured ResNet-50 thrice, on different data."""
    for line, r in enumerate(rows("elasticflow_throughput.csv"), 2):
        gpus, rate = int(r["n_gpus"]), float(r["iterations_per_s"])
        if rate > 0:
            placement = (gpus,) if gpus <= NODE_GPUS else (NODE_GPUS,) * (gpus // NODE_GPUS)
            yield _step(line, r["model"], "a100", placement, float(r["global_batch_size"]) / gpus, 1 / rate)


def _step(
    line: int, model: str, gpu: str, placement: tuple[int, ...], batch: float, step_s: float, sync_s: float = nan
) -> Step:
    size = OWN_GRADIENT_BYTES[model] if model in OWN_GRADIENT_BYTES else CATALOGUE.model(model).gradient.bytes
    return Step(line, model, gpu, placement, batch, step_s, sync_s, size)


def even(gpus: int, nodes: int) -> tuple[int, ...]:
    """GPUs of each node when they stand as evenly as they can."""
    return tuple((gpus + i) // nodes for i in reversed(range(nodes)))


def _descending(digits: str) -> tuple[int, ...]:
    return tuple(sorted(map(int, digits), reverse=True))
