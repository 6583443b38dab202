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
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.classical.cases import Case, cases
from benchmarks.gittins.contestants import ESTIMATE, GITTINS, NONE, REQUESTS_S, Contestant, Hint, requested
from benchmarks.gittins.figures import Figures, Place
from benchmarks.gittins.regression import SHIPPED, Key, estimates_s, log_work
from benchmarks.gittins.runs import Cell, kept, measured
from pointsman import Workload
from pointsman.api import open_simulation, simulate
from pointsman.experiment import RunOptions
from pointsman.policies.dally.hazards import CLASSES, ENDS, SCORE
from pointsman.policies.registry import get_policy
from pointsman.speed.profiles.assign import assign_models

MODEL: Final = (Key(("model", "size"), 0.99, 1, 2.0), Key(("user", "model", "gpus"), 0.5, 4, 0.5))
LIMIT: Final = (Key(("time_limit_s", "size"), 0.99, 1, 2.0), Key(("user", "time_limit_s"), 0.95, 1, 2.0))
NAME: Final = (Key(("user", "name"), 0.95, 2, 0.5),)
RESORTED: Final = Contestant("re-sorted", f"{Path(__file__).with_name('resorting.py')}:Resorting")
SPREAD: Final = 0.5
DRAWS: Final = 3
"""Of limits and names, on logs; each seed of the suite has its own."""
OPTIONS: Final[dict[str, Any]] = {"oversized": "drop", "overheads": "realistic", "assign_models": 0}


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
    told = requested(jobs, seed).jobs
    careless = pl.Series(np.random.default_rng([seed, 2]).random(told.height) < 0.5)
    longest = pl.max_horizontal(pl.lit(REQUESTS_S[-1]), "time_limit_s")
    limits = pl.when(careless).then(longest).otherwise(pl.col("time_limit_s"))
    return replace(jobs, jobs=told.with_columns(time_limit_s=limits))


def known_of(jobs: Workload, limits: Hint, seed: int) -> pl.DataFrame:
    """What may be known of each job as it is submitted, and its duration."""
    limited = limits(jobs, seed).jobs
    return assign_models(limited, 0).with_columns(named(limited, seed))


KNOWN: Final = (
    Contestant(GITTINS, "gittins"),
    Contestant(NONE, "gittins", {"predictor": "none"}),
    RESORTED,
    Contestant("limit, no regression", "gittins", ESTIMATE, "limit", hint=requested),
    Contestant("vague limit, no regression", "gittins", ESTIMATE, "limit", hint=vague),
)
SETS: Final[dict[str, tuple[tuple[Key, ...], Hint]]] = {
    "as shipped": (SHIPPED, requested),
    "model": (SHIPPED + MODEL, requested),
    "limit": (SHIPPED + LIMIT, requested),
    "vague limit": (SHIPPED + LIMIT, vague),
    "name": (SHIPPED + NAME, requested),
    "all": (SHIPPED + MODEL + LIMIT + NAME, requested),
}
DRAWN: Final = ("limit", "limit, no regression", "name", "all")
"""What several draws on logs are made of."""


def _told(who: Contestant, seconds: np.ndarray) -> Contestant:
    def hint(jobs: Workload, _: int) -> Workload:
        return replace(jobs, jobs=jobs.jobs.with_columns(time_limit_s=pl.Series(seconds)))

    return replace(who, hint=hint)


def _fixed(hint: Hint, seed: int) -> Hint:
    return lambda jobs, _: hint(jobs, seed)


def learnt(case: Case, jobs: Workload, known: pl.DataFrame, keys: tuple[Key, ...]) -> np.ndarray:
    """The estimates (s) of a predictor that knows jobs by `keys`."""
    result = simulate(jobs, case.cluster, "gittins", log=False, **OPTIONS)
    for _ in range(2):
        seconds = estimates_s(known, result.jobs["end_s"].to_numpy(), keys)
        told = replace(jobs, jobs=jobs.jobs.with_columns(time_limit_s=pl.Series(seconds)))
        result = simulate(told, case.cluster, "gittins", params=ESTIMATE, estimate="limit", log=False, **OPTIONS)
    return seconds


def score(case: Case, jobs: Workload, who: Contestant) -> float:
    """By how much the hazards of a job's group have told its work better than the pooled ones, as the policy counts
    it: the mean logarithm of the ratio of both probabilities, over all ended jobs.
    """
    told = who.hint(jobs, 0) if who.hint else jobs
    spec = get_policy(who.policy)
    options = RunOptions(estimate=who.estimate, **OPTIONS)
    simulation = open_simulation(told, case.cluster, spec, spec.make(who.params), options)[0]
    simulation.run()
    memory = simulation.handle.state.memory
    return float(memory[SCORE : SCORE + CLASSES].sum() / memory[ENDS])


def quality(case: Case, jobs: pl.DataFrame, seconds: np.ndarray) -> dict[str, float]:
    """R² of the logarithm of durations, and Spearman's correlation, of the jobs that count."""
    submit_s = jobs["submit_s"] - jobs["submit_s"][0]
    counts = (submit_s >= case.warmup_ratio * submit_s[-1]).to_numpy()
    truth, estimate = log_work(jobs)[counts], np.log(np.maximum(seconds, 1e-3))[counts]
    ranks = pl.DataFrame({"truth": truth, "estimate": estimate}).select(pl.corr("truth", "estimate", method="spearman"))
    return {"r2": 1 - float(((truth - estimate) ** 2).mean() / truth.var()), "spearman": float(ranks.item())}


def rows_of(case: Case, seed: int, draw: int, labels: Collection[str]) -> Iterator[dict[str, Any]]:
    """One set of jobs with one draw of limits and names, by these contestants."""
    cell = Cell(case.name, case.loads[-1], seed, models=True)
    jobs = case.workload(cell.load, seed)
    drawn = seed + 1000 * draw
    for who in KNOWN:
        if who.label in labels:
            told = replace(who, hint=_fixed(who.hint, drawn)) if who.hint else who
            found = {"score": score(case, jobs, told)}
            yield {**vars(cell), "draw": draw, "policy": who.label, **found, **measured(case, cell, jobs, told)}
    for label, (keys, limits) in SETS.items():
        if label in labels:
            seconds = learnt(case, jobs, known_of(jobs, limits, drawn), keys)
            who = _told(Contestant(label, "gittins", ESTIMATE, "limit"), seconds)
            found = {"score": score(case, jobs, who), **quality(case, jobs.jobs, seconds)}
            yield {**vars(cell), "draw": draw, "policy": label, **found, **measured(case, cell, jobs, who)}


def table(figures: Figures) -> pl.DataFrame:
    """A row for each workload and set of features."""
    rows = []
    for place in figures.places:
        for label in (*SETS, *(who.label for who in KNOWN[1:])):
            change = figures.against(place, label, GITTINS)
            found = {name: _mean(figures, place, label, name) for name in ("r2", "spearman", "score")}
            rows.append(
                {"workload": place.name, "features": label, "runs": len(figures.runs[place, label]), **found,
                 "to_gittins_percent": change.percent, "low": change.low, "high": change.high}
            )  # fmt: skip
    return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).round(3))


def _mean(figures: Figures, place: Place, label: str, name: str) -> float | None:
    return figures.mean(place, label, name) if name in figures.runs[place, label][0] else None


def _complete(runs: Path, traces: Path) -> None:
    """Run what the file lacks."""
    there = {
        (cell.workload, cell.seed, row["draw"], label) for (cell, label), rows in kept(runs).items() for row in rows
    }
    for case in cases(traces):
        for seed in case.seeds:
            for draw in range(1 if len(case.seeds) > 1 else DRAWS):
                labels = DRAWN if draw else (*SETS, *(who.label for who in KNOWN))
                lacking = [label for label in labels if (case.name, seed, draw, label) not in there]
                lines = [json.dumps(row) + "\n" for row in rows_of(case, seed, draw, lacking)] if lacking else []
                with runs.open("a", encoding="utf-8") as file:
                    file.writelines(lines)
                print(f"{case.name}, seed {seed}, draw {draw}", flush=True)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins.features", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("--into", type=Path, default=Path("out/gittins-features"))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/data/gittins-features.csv"))
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    runs = given.into / "runs.jsonl"
    _complete(runs, given.data / "traces")
    table(Figures(runs)).write_csv(given.output)


if __name__ == "__main__":
    main()
