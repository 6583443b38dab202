"""``python -m benchmarks.marl.trainings [--only NAME-SEED ...]``: logged placements, the interference learnt from them,
and the trainings of the scorer, of MARL, of the single agent and of ablations. What is there is kept; what was
interrupted goes on.

Everything goes through the command line, as an operator would do it.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import yaml

from benchmarks.marl.cells import CORES, Cell
from benchmarks.marl.variants import (
    ABLATIONS,
    ACTORS,
    BLIND,
    FIFO,
    FIVE,
    MARL,
    MEASURED,
    MIXED,
    OF_ACTORS,
    SCORER_OF,
    SINGLE,
    Variant,
)
from benchmarks.placement.cell import cluster

SERVERS = 64
"""Of the cluster on which networks are trained: half a fat tree, four to a rack. The scorer is trained on all 128."""
LOGGED_JOBS = 600
LOGGED = [
    (like, load, policy) for load in (0.7, 0.9) for like in ("philly", "1-8", "1-16") for policy in ("packed", "lif")
]
LOG_SEEDS = (*range(91, 100), 910, 911, 912)
WORKLOADS, LOADS = ("dl2-1-8", "dl2-1-8", "dl2-1-16", "dl2-philly"), ("0.7", "0.9", "0.9", "0.9")
"""Both tasks learn on a mixture, so that none is tuned to one cell."""


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/marl"))
    parser.add_argument("--only", nargs="*", default=[], help="such as scorer-1 or marl-3")
    given = parser.parse_args()
    into: Path = given.into
    into.mkdir(parents=True, exist_ok=True)
    for cores in CORES:
        _learn_interference(into, Cell(cpus=cores))
    know_less(into)
    for order, name in SCORER_OF.items():
        for seed in FIVE:
            if _is_wanted(f"{name}-{seed}", given.only):
                _scorer(into, f"{name}-{seed}", order, seed)
    for variant in (MARL, FIFO, MIXED, ACTORS, SINGLE, *OF_ACTORS, *ABLATIONS):
        for seed in variant.trainings:
            if _is_wanted(f"{variant.name}-{seed}", given.only):
                _marl(into, variant, seed)


def _is_wanted(name: str, only: list[str]) -> bool:
    return not only or name in only


def _learn_interference(into: Path, cell: Cell) -> None:
    """From twelve runs under the truth, of 600 jobs each, placed by `packed` and by `lif`."""
    learnt = into / cell.learnt
    if learnt.is_file():
        return
    on, runs = cell.cluster(into)[0], []
    for seed, (like, load, policy) in zip(LOG_SEEDS, LOGGED, strict=True):
        done = into / f"logged-{cell.cpus}-{seed}"
        jobs = done.with_suffix(".parquet")
        size = ("--jobs", str(LOGGED_JOBS), "--load", f"{load:g}", "--seed", str(seed))
        _do("trace", "generate", "--like", f"dl2-{like}", "--cluster", on, *size, "--force", "-o", jobs)
        truth = ("--node-interference", "table", "--contention", "duty-cycle")
        _do("simulate", jobs, "--cluster", on, "--policy", policy, *truth, "--log-speeds", "--force", "-o", done)
        runs.append(done)
    _do("profile", "interference", *runs, "-o", learnt)


def know_less(into: Path) -> None:
    """Files for ablations: one that knows what was measured and takes all else for undisturbed, and one that knows
    nothing.
    """
    known = yaml.safe_load((into / Cell().learnt).read_text(encoding="utf-8"))
    for less, also in ((into / MEASURED, ("measured",)), (into / BLIND, ())):
        if less.is_file():  # which a training beside this one may be reading
            continue
        for server in known["spec"]["servers"]:
            for model, found in server["models"].items():
                alone = {"alone": 1.0, "per_own_gpu": 1.0, "beside": {}}
                server["models"][model] = {"otherwise": alone} | {part: found[part] for part in also}
        less.write_text(yaml.safe_dump(known, sort_keys=False), encoding="utf-8")


def _practice(order: str) -> dict[str, str]:
    """What is practised in this order of jobs; or half of the time in each."""
    orders = ("sjf", "fifo") if order == "mixed" else (order,)
    given = {"workload": WORKLOADS * len(orders), "load": LOADS * len(orders)}
    each = [order for order in orders for _ in WORKLOADS] if len(orders) > 1 else orders
    return {f"practice.{name}": " + ".join(parts) for name, parts in (given | {"order": each}).items()}


def _scorer(into: Path, name: str, order: str, seed: int) -> None:
    own = {"practice.workloads": "2", "practice.assign_models": "none", **_knowing(into, Cell().learnt)}
    _train("scorer", into / name, seed, Cell().cluster(into)[0], _practice(order) | own)


def _marl(into: Path, variant: Variant, seed: int) -> None:
    """It mends the choices of the scorer of the same seed."""
    weights = json.loads((into / variant.scorer(seed) / "policy.json").read_text(encoding="utf-8"))
    patience = str(weights.pop("patience"))
    own = {
        "practice.jobs": "1500",
        "practice.patience": patience,
        "marl.weights": ",".join(map(str, weights.values())),
        **_knowing(into, variant.knows),
        **variant.settings,
    }
    on, place = cluster(into, SERVERS, per_rack=4), into / f"{variant.name}-{seed}"
    _train("marl", place, seed, on, _practice(variant.order) | own, "--steps", str(variant.decisions))


def _knowing(into: Path, file: str | None) -> dict[str, str]:
    return {"practice.node_interference": "table" if file is None else str(into / file)}


def _train(agent: str, place: Path, seed: int, on: str, settings: dict[str, str], *more: str) -> None:
    settings |= {"practice.workload_seed": str(seed)}
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    goes_on = ["--resume"] * place.is_dir()
    _do("train", agent, "--seed", str(seed), "--cluster", on, *given, *more, *goes_on, "-o", place)


def _do(*words: object) -> None:
    """In a process of its own, so that each checkpoint says by which command it was made."""
    done = subprocess.run([sys.executable, "-m", "pointsman", *map(str, words)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
