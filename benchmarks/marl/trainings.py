"""``python -m benchmarks.marl.trainings [--only NAME-SEED ...]``: logged placements, the interference learnt from them,
and the trainings of the scorer, of MARL and of the single agent. What is there is kept; what was interrupted goes on.

Everything goes through the command line, as an operator would do it.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.marl.cells import Cell
from benchmarks.marl.contestants import TRAININGS
from benchmarks.placement.cell import cluster
from pointsman.cli.run import run

SERVERS = 64
"""Of the cluster on which networks are trained: half a fat tree, four to a rack. The scorer is trained on all 128."""
LOGGED_JOBS = 600
LOGGED = [
    (like, load, policy) for load in (0.7, 0.9) for like in ("philly", "1-8", "1-16") for policy in ("packed", "lif")
]
LOG_SEEDS = (*range(91, 100), 910, 911, 912)
PRACTICE = {"workload": "dl2-1-8 + dl2-1-8 + dl2-1-16 + dl2-philly", "load": "0.7 + 0.9 + 0.9 + 0.9"}
"""Both tasks learn on a mixture, so that none is tuned to one cell."""


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/marl"))
    parser.add_argument("--only", nargs="*", default=[], help="such as scorer-1 or marl-3")
    parser.add_argument("--steps", type=int, default=40_960, help="decisions that a network learns from")
    given = parser.parse_args()
    into: Path = given.into
    into.mkdir(parents=True, exist_ok=True)
    on, _ = Cell().cluster(into)
    learnt = into / "interference.yaml"
    if not learnt.is_file():
        _learn_interference(into, on, learnt)
    for name, begin in (("scorer", _scorer), ("marl", _marl), ("single", _single)):
        for seed in TRAININGS:
            place = into / f"{name}-{seed}"
            if given.only and place.name not in given.only:
                continue
            begin(into, place, seed, learnt, given.steps)


def _learn_interference(into: Path, on: str, learnt: Path) -> None:
    """From twelve runs under the truth, of 600 jobs each, placed by `packed` and by `lif`."""
    runs = []
    for seed, (like, load, policy) in zip(LOG_SEEDS, LOGGED, strict=True):
        jobs, done = into / f"logged-{seed}.parquet", into / f"logged-{seed}"
        size = ("--jobs", str(LOGGED_JOBS), "--load", f"{load:g}", "--seed", str(seed))
        _do("trace", "generate", "--like", f"dl2-{like}", "--cluster", on, *size, "--force", "-o", jobs)
        truth = ("--node-interference", "table", "--contention", "duty-cycle")
        _do("simulate", jobs, "--cluster", on, "--policy", policy, *truth, "--log-speeds", "--force", "-o", done)
        runs.append(done)
    _do("profile", "interference", *runs, "-o", learnt)


def _scorer(into: Path, place: Path, seed: int, learnt: Path, steps: int) -> None:
    own = {"workloads": "2", "assign_models": "none"}
    _train("scorer", place, seed, Cell().cluster(into)[0], learnt, **PRACTICE, **own)


def _marl(into: Path, place: Path, seed: int, learnt: Path, steps: int, *more: str, **own: str) -> None:
    """It mends the choices of the scorer of the same seed."""
    weights = json.loads((into / f"scorer-{seed}" / "policy.json").read_text(encoding="utf-8"))
    patience = str(weights.pop("patience"))
    start = ("--set", "marl.weights=" + ",".join(map(str, weights.values())), "--steps", str(steps))
    own |= {"jobs": "1500", "patience": patience}
    _train("marl", place, seed, cluster(into, SERVERS, per_rack=4), learnt, *start, *more, **PRACTICE, **own)


def _single(into: Path, place: Path, seed: int, learnt: Path, steps: int) -> None:
    """Harmony-like: one scheduler, and nodes judged by their own features alone."""
    _marl(into, place, seed, learnt, steps, "--set", "marl.graph=false", schedulers="1")


def _train(agent: str, place: Path, seed: int, on: str, learnt: Path, *more: str, **practice: str) -> None:
    practice["workload_seed"] = str(seed)
    settings = [f"practice.{name}={value}" for name, value in practice.items()]
    settings += [f"practice.node_interference={learnt}"]
    given = [word for setting in settings for word in ("--set", setting)]
    goes_on = ["--resume"] * place.is_dir()
    _do("train", agent, "--seed", str(seed), "--cluster", on, *given, *more, *goes_on, "-o", place)


def _do(*words: object) -> None:
    code = run([str(word) for word in words])
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main()
