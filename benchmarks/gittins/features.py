"""``python -m benchmarks.gittins.features [--data DIR] [--into DIR] [-o FILE]``: whether the predictor of `gittins`
would gain from models, time limits or names of jobs, or from estimates that are made anew at refits.

Estimates are made outside the engine, in the order in which jobs ended in a run of `gittins`, and given to a second
run with `gittins.predictor=estimate`. They are then made again in that run's order, and a third run is measured.

Synthetic, for no log has them: *models* (`--assign-models 0`), *limits* (`contestants.requested`, `vague`) and
*names* (`named`). Durations are those of the logs and of the suite.
"""

import argparse
import json
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.classical.cases import cases_by_name
from benchmarks.gittins.contestants import ESTIMATE, GITTINS, NONE, REQUESTS_S, Limits, limited, requested, with_limits
from benchmarks.gittins.figures import against
from benchmarks.gittins.regression import SHIPPED, Key, estimates_s, log_work
from benchmarks.results.contestant import Contestant, Setting, run, simulated
from benchmarks.results.figures import Figures
from benchmarks.results.pages.gittins import DRAWS, Cell, setting
from pointsman import Workload
from pointsman.api import open_simulation
from pointsman.experiment import RunOptions
from pointsman.policies.dally.declared import GittinsMemory
from pointsman.policies.registry import get_policy
from pointsman.speed.profiles.assign import assign_models

MODEL: Final = (Key(("model", "size"), 0.99, 1, 2.0), Key(("user", "model", "gpus"), 0.5, 4, 0.5))
LIMIT: Final = (Key(("time_limit_s", "size"), 0.99, 1, 2.0), Key(("user", "time_limit_s"), 0.95, 1, 2.0))
NAME: Final = (Key(("user", "name"), 0.95, 2, 0.5),)
RESORTED: Final = Contestant("re-sorted", f"{Path(__file__).with_name('resorting.py')}:Resorting")
SPREAD: Final = 0.5
LOG_SEEDS: Final = DRAWS[:3]
"""Of limits and names; each seed of the suite has its own."""


def named(jobs: pl.DataFrame, seed: int) -> pl.Series:
    """Synthetic names: jobs of a user and size have the same one if the logarithms of their durations, plus normal
    noise of a standard deviation `SPREAD`, round to the same multiple of it. Half of the jobs have a name of their own.
    """
    draw = np.random.default_rng([seed, 1])
    noisy = log_work(jobs) + draw.normal(0.0, SPREAD, jobs.height)
    common = [f"{gpus}-{step}" for gpus, step in zip(jobs["gpus"], np.rint(noisy / SPREAD).astype(int), strict=True)]
    own = draw.random(jobs.height) < 0.5
    return pl.Series(
        "name", [f"own-{row}" if alone else name for row, (name, alone) in enumerate(zip(common, own, strict=True))]
    )


def vague(jobs: Workload, seed: int) -> Workload:
    """Synthetic limits, too, but half of the jobs request the longest."""
    limits = requested(jobs, seed).jobs["time_limit_s"].to_numpy()
    careless = np.random.default_rng([seed, 2]).random(len(limits)) < 0.5
    return with_limits(jobs, np.where(careless, np.maximum(limits, REQUESTS_S[-1]), limits))


def known_of(jobs: Workload, limits: Limits, seed: int) -> pl.DataFrame:
    """What may be known of each job as it is submitted, and its duration."""
    limited = limits(jobs, seed).jobs
    return assign_models(limited, 0).with_columns(named(limited, seed))


def _by(limits: Limits, label: str, said: str) -> Contestant:
    return Contestant(label, "gittins", ESTIMATE, f"limit, {said}", hint=partial(limited, limits))


KNOWN: Final = (
    Contestant(GITTINS, "gittins"),
    Contestant(NONE, "gittins", {"predictor": "none"}),
    RESORTED,
    _by(requested, "limit, no regression", "synthetic"),
    _by(vague, "vague limit, no regression", "half of them the longest"),
)
SETS: Final[dict[str, tuple[tuple[Key, ...], Limits]]] = {
    "as shipped": (SHIPPED, requested),
    "model": (SHIPPED + MODEL, requested),
    "limit": (SHIPPED + LIMIT, requested),
    "vague limit": (SHIPPED + LIMIT, vague),
    "name": (SHIPPED + NAME, requested),
    "all": (SHIPPED + MODEL + LIMIT + NAME, requested),
}
DRAWN: Final = ("limit", "limit, no regression", "name", "all")
"""What several draws on logs are made of."""


def _estimated(label: str, seconds: np.ndarray) -> Contestant:
    return _by(lambda jobs, _: with_limits(jobs, seconds), label, "estimated outside the engine")


def learnt(place: Setting, known: pl.DataFrame, keys: tuple[Key, ...]) -> np.ndarray:
    """The estimates (s) of a predictor that knows jobs by `keys`."""
    who = KNOWN[0]
    for _ in range(2):
        seconds = estimates_s(known, simulated(who, place, 0).jobs["end_s"].to_numpy(), keys)
        who = _estimated("learnt", seconds)
    return seconds


def score(place: Setting, who: Contestant, seed: int) -> float:
    """By how much the hazards of a job's group have told its work better than the pooled ones, as the policy counts
    it: the mean logarithm of the ratio of both probabilities, over all ended jobs.
    """
    jobs, estimate = who.hint(place.jobs, seed) if who.hint else (place.jobs, who.estimate)
    spec = get_policy(who.policy)
    options = RunOptions(estimate=estimate, **place.options)
    simulation = open_simulation(jobs, place.cluster, spec, spec.make(who.params), options)[0]
    simulation.run()
    H = GittinsMemory(simulation.handle.state.memory).hazards
    return float(H.score.array.sum() / H.ends)


def quality(place: Setting, seconds: np.ndarray) -> dict[str, float]:
    """R² of the logarithm of durations, and Spearman's correlation, of the jobs that count."""
    jobs = place.jobs.jobs
    submit_s = jobs["submit_s"] - jobs["submit_s"][0]
    counts = (submit_s >= place.warmup * submit_s[-1]).to_numpy()
    truth, estimate = log_work(jobs)[counts], np.log(np.maximum(seconds, 1e-3))[counts]
    ranks = pl.DataFrame({"truth": truth, "estimate": estimate}).select(pl.corr("truth", "estimate", method="spearman"))
    return {"r2": 1 - float(((truth - estimate) ** 2).mean() / truth.var()), "spearman": float(ranks.item())}


def rows_of(cell: Cell, seed: int, labels: Collection[str], data: Path) -> Iterator[dict[str, Any]]:
    """One set of jobs with one draw of limits and names, by these contestants."""
    place = setting(cell, seed, data)

    def row(who: Contestant, **found: float) -> dict[str, Any]:
        found["score"] = score(place, who, seed)
        return {**vars(cell), "seed": seed, "policy": who.label, **found, **run(who, place, seed)}

    yield from (row(who) for who in KNOWN if who.label in labels)
    for label, (keys, limits) in SETS.items():
        if label in labels:
            seconds = learnt(place, known_of(place.jobs, limits, seed), keys)
            yield row(_estimated(label, seconds), **quality(place, seconds))


def table(figures: Figures) -> pl.DataFrame:
    """A row for each workload and set of features."""
    rows = []
    for where in figures.cells("workload", "load"):
        for label in (*SETS, *(who.label for who in KNOWN[1:])):
            change, runs = against(figures, where, label, GITTINS), figures.runs(where, label)
            rows.append(
                {"workload": f"{where['workload']} {where['load']}", "features": label, "runs": runs.height,
                 **{name: runs[name].mean() for name in ("r2", "spearman", "score")},
                 "to_gittins_percent": change.percent, "low": change.low, "high": change.high}
            )  # fmt: skip
    return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).round(3))


def _complete(runs: Path, data: Path) -> pl.DataFrame:
    """Run what the file lacks."""
    found = [json.loads(line) for line in runs.read_text().splitlines()] if runs.exists() else []
    there = {(row["workload"], row["seed"], row["policy"]) for row in found}
    for case in cases_by_name(data / "traces").values():
        for k, seed in enumerate(LOG_SEEDS if case.is_log else case.seeds):
            labels = DRAWN if k and case.is_log else (*SETS, *(who.label for who in KNOWN))
            lacking = [label for label in labels if (case.name, seed, label) not in there]
            new = list(rows_of(Cell(case.name, case.loads[-1]), seed, lacking, data)) if lacking else []
            with runs.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in new)
            found += new
            print(f"{case.name}, seed {seed}", flush=True)
    return pl.DataFrame(found, infer_schema_length=None)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins.features", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("--into", type=Path, default=Path("out/gittins-features"))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/data/gittins-features.csv"))
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    runs = given.into / "runs.jsonl"
    table(Figures(_complete(runs, given.data))).write_csv(given.output)


if __name__ == "__main__":
    main()
