"""The runs behind a page. Each trial is kept in a file as soon as it has ended; what is there is not run again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.results.contestant import Contestant, run
from pointsman.parallel.pool import Processes

PAGES = Path("docs/results")
DATA = PAGES / "data"
JOINT = "; "
"""Between the options, or the words on what is used, of a policy that has others in other cells."""


@dataclass(frozen=True)
class Trial:
    """Some policies on the same jobs of one seed."""

    cell: Any
    """A dataclass; its fields are columns of the data file."""
    seed: int
    contestants: tuple[Contestant, ...]

    def key(self, who: Contestant) -> str:
        """What tells one of its runs from all others."""
        return json.dumps([vars(self.cell), self.seed, who.label, who.command], sort_keys=True)


def page_of(name: str) -> Any:
    """The module of a page: `trials(data)`, `setting(cell, seed, data)` and `BLOCKS`."""
    return import_module(f"benchmarks.results.pages.{name}")


def study(name: str) -> pl.DataFrame:
    """The data file of a study beside a page."""
    return pl.read_csv(Path(__file__).parents[2] / DATA / f"{name}.csv", infer_schema_length=None)


def complete(name: str, data: Path, workers: int, kept: Path) -> pl.DataFrame:
    """Run what the file `kept` lacks of a page's trials, and add it.

    Returns:
        A row for each run, in the order of the trials.
    """
    kept.parent.mkdir(parents=True, exist_ok=True)
    found = {row["key"]: row for row in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}
    trials: Sequence[Trial] = list(page_of(name).trials(data))
    missing = [
        (name, trial, left, data)
        for trial in trials
        if (left := tuple(who for who in trial.contestants if trial.key(who) not in found))
    ]
    with kept.open("a", encoding="utf-8") as file:
        for done, rows in enumerate(Processes(workers)(_rows, missing), 1):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            found |= {row["key"]: row for row in rows}
            if done % max(1, len(missing) // 20) == 0:
                print(f"{name}: {done} of {len(missing)} trials", flush=True)
    rows = [found[trial.key(who)] for trial in trials for who in trial.contestants]
    return pl.DataFrame(rows, infer_schema_length=None).drop("key")


def take_as_done(name: str, data: Path, published: pl.DataFrame, kept: Path) -> None:
    """Begin the file `kept` with the published runs of a page's trials, so that only the others are run."""
    trials: Sequence[Trial] = list(page_of(name).trials(data))
    columns = ("seed", "policy", *vars(trials[0].cell))
    rows = {tuple(row[column] for column in columns): row for row in published.rows(named=True)}
    done = [
        {"key": trial.key(who), **row, "options": who.command}
        for trial in trials
        for who in trial.contestants
        if (row := rows.get((trial.seed, who.label, *vars(trial.cell).values())))
        and who.command in row["options"].split(JOINT)
    ]
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("".join(json.dumps(row) + "\n" for row in done), encoding="utf-8")


def _rows(name: str, trial: Trial, contestants: Sequence[Contestant], data: Path) -> list[dict[str, Any]]:
    setting = page_of(name).setting(trial.cell, trial.seed, data)
    return [
        {
            "key": trial.key(who), **vars(trial.cell), "seed": trial.seed, "policy": who.label, "options": who.command,
            **run(who, setting, trial.seed),
        }
        for who in contestants
    ]  # fmt: skip
