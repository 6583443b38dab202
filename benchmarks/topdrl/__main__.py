"""``python -m benchmarks topdrl [PART ...] [--trained DIR] [--record]``: prints the tables, or fills the page.

Parts: throughput, insensitive, completion, batches, ablations, estimates, curves, waiting; by default all. The
trainings are read from ``--trained``, where the commands of the page put them; `waiting` needs none.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.parts import check_complete, exit_code, options_of, run_parts
from benchmarks.topdrl.cells import FIGURES, LOGS, SPEC, Cell, Measured, run
from benchmarks.topdrl.contestants import (
    DEEPRM,
    NEAREST,
    RAW,
    TOPDRL,
    UNTRAINED_SIX,
    Contestant,
    everybody,
    trained,
)
from benchmarks.topdrl.curves import curves
from benchmarks.topdrl.tables import above_bound, against, detail, iqm
from benchmarks.topdrl.waiting import CELLS, bounds
from pointsman.report.units import duration

PAGE = Path("docs/results/topdrl.md")
SEEDS = 10
SIGMAS = (0.5, 1.0)
ABLATIONS = {
    "no image of the cluster": "no-cluster",
    "no image of the queue": "no-queue",
    "no image of the topology": "no-topology",
    "no vector of jobs, nor judge of slots": "no-jobs",
    "reward: jobs in the system": "reward-jobs",
}
"""By what tables say, the directory of the trainings."""


@dataclass(frozen=True)
class Scope:
    """How much is run, and where things are."""

    data: Path
    trained: Path
    quick: bool = False

    @property
    def seeds(self) -> range:
        """Of the held-out jobs."""
        return range(2 if self.quick else SEEDS)

    def cells(self, jobs: int, loads: Sequence[float | None], horizon_share: float | None = None) -> list[Cell]:
        """The authors' cluster with their jobs, and both logs on two larger ones. In a horizon their jobs all come at
        once, as in their queue, which is never empty.
        """
        sizes = [(SPEC, 32), *((log, gpus) for log in LOGS for gpus in (64, 256))]
        chosen = sizes[:2] if self.quick else sizes
        return [
            Cell(name, gpus, jobs, None if name == SPEC and horizon_share else load, horizon_share)
            for name, gpus in chosen
            for load in loads
        ]


SATURATED = (1000, (1.5,), 0.6)


def _measured(scope: Scope, cells: Sequence[Cell], who: Sequence[Contestant]) -> list[Measured]:
    return run(cells, who, scope.seeds, scope.data)


def _short(cell: Cell) -> str:
    return cell.workload.split("'")[0].lower()


def throughput(scope: Scope):
    """A fixed horizon in which jobs always wait."""
    who = everybody(scope.trained)
    found = _measured(scope, scope.cells(*SATURATED), who)
    named = {one.label: one for one in who}
    details = {f"throughput-{_short(one.cell)}-{one.cell.gpus}": detail(one, named) for one in found}
    return {"throughput": against(found, "throughput", per_gpu=True), **details}, found


def completion(scope: Scope):
    """Jobs that come one after another, all run to their end."""
    found = _measured(scope, scope.cells(500, (0.8, 1.0, 1.2)), everybody(scope.trained))
    return {"completion": against(found, "jct_mean_s", duration), "completion-bound": above_bound(found)}, found


def insensitive(scope: Scope):
    """The logs again, with models that hardly feel where they run."""
    cells = [replace(cell, mix="insensitive") for cell in scope.cells(*SATURATED) if cell.workload != SPEC]
    found = _measured(scope, cells, everybody(scope.trained))
    return {"insensitive": against(found, "throughput", per_gpu=True)}, found


def batches(scope: Scope):
    """Jobs that are all there from the start."""
    found = _measured(scope, scope.cells(200, (None,)), everybody(scope.trained))
    tables = {"makespan": against(found, "makespan_s", duration), "batch-cost": against(found, "cost")}
    return tables, found


def ablations(scope: Scope):
    """Branches left out, other rewards, other GPUs."""
    whole = trained(scope.trained, TOPDRL, "topdrl-short")
    others = [trained(scope.trained, label, name) for label, name in ABLATIONS.items()]
    gpus = [
        Contestant(f"GPUs: {how}", whole.policies, {"gpus": how})
        for how in ("anchor", "first-available", "load-balance", "random")
    ]
    found = _measured(scope, scope.cells(*SATURATED), [whole, *others, *gpus, trained(scope.trained, RAW)])
    return {"ablations": against(found, "throughput", per_gpu=True)}, found


def estimates(scope: Scope):
    """Those who want durations are told wrong ones."""
    known = [trained(scope.trained, TOPDRL), UNTRAINED_SIX[1], trained(scope.trained, DEEPRM), NEAREST[1]]
    who = [one for each in known for one in (each, *(each.told(sigma) for sigma in SIGMAS))]
    found = _measured(scope, scope.cells(*SATURATED), who)
    late = _measured(scope, scope.cells(500, (1.0,)), who)
    return {
        "estimates": against(found, "throughput", per_gpu=True),
        "estimates-jct": against(late, "jct_mean_s", duration),
    }, [*found, *late]


def waiting(scope: Scope):
    """What a bound on waiting costs the weights that ship."""
    return {"waiting": bounds(CELLS[:1] if scope.quick else CELLS, scope.seeds[:5], scope.data)}, []


def curve(scope: Scope):
    """How trainings go."""
    curves(scope.trained, PAGE.with_name("topdrl-curves.png"))
    return {}, []


PARTS = {
    "throughput": throughput, "insensitive": insensitive, "completion": completion, "batches": batches,
    "ablations": ablations, "estimates": estimates, "curves": curve, "waiting": waiting,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    trained_in = argparse.ArgumentParser(add_help=False)
    trained_in.add_argument("--trained", type=Path, default=Path("out/topdrl"))
    where, rest = trained_in.parse_known_args(arguments)
    options = options_of("topdrl", str(__doc__), PARTS, PAGE, "where traces/ is", rest)
    options.trained = where.trained
    return exit_code(_run, options)


def _run(options: argparse.Namespace) -> None:
    wants_trained = set(options.part or PARTS) != {"waiting"}
    if not (options.data / "traces").is_dir() or (wants_trained and not options.trained.is_dir()):
        missing = options.trained if (options.data / "traces").is_dir() else options.data / "traces"
        print(f"topdrl: skipped, for {missing} is not there")
        return
    check_complete("topdrl", "", options)
    run_parts(PARTS, Scope(options.data, options.trained, options.quick), options, _keep)


def _keep(path: Path, found: Sequence[Measured]) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.exists() else {}
    for one in found:
        means = {label: [_digits(iqm(of[name])) for name in FIGURES] for label, of in one.runs.items()}
        cells[one.cell.name] = cells.get(one.cell.name, {}) | means
    text = json.dumps({"figures": FIGURES, "cells": cells}, separators=(",", ":"))
    path.write_text(text.replace("]},", "]},\n") + "\n", encoding="utf-8")


def _digits(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.4g}")


if __name__ == "__main__":
    sys.exit(main())
