"""``docs/results/data/speed.csv``, and from it the figures of ``docs/results/speed.md`` and of the page that explains
them.
"""

import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.blocks import fill
from benchmarks.measures import Budget, Measure, load_budgets
from benchmarks.results.figures import markdown
from benchmarks.scaling import draw
from benchmarks.stopping import OVERHEADS
from benchmarks.stopping import POLICIES as STOPPING

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results" / "speed.md"
DATA = PAGE.parent / "data" / "speed.csv"
GOALS = DATA.with_name("speed-goals.csv")
EXPLAINED = ROOT / "docs" / "background" / "speed-of-the-engine.md"
POLICIES = ("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf", "las", "tiresias")
LOADS = ("0.9", "1.05")
RATIOS = {"of_same_cpp": "the same in C++", "of_bare_cpp": "bare C++", "of_python": "bare Python"}
COMPILED = ("fifo", "srtf", "tiresias", "easy", "dally", "gittins")
EDITS = {
    "first": "first `simulate`", "again": "again", "edited": "user's file", "edited_built_in": "built-in",
    "edited_helper": "engine",
}  # fmt: skip
ENDS = {
    "1000000/csv_with_report": "1,000,000 jobs, CSV, with report",
    "1000000/parquet": "1,000,000 jobs, Parquet, without report",
    "1000/parquet_with_report": "1,000 jobs, Parquet, with report",
}
MOST_MISSED = 5
LINKS = {"none": "none", "level": "level", "max-min": "max-min", "duty-cycle": "duty-cycle", "node-link": "node-link"}


class Recorded:
    """The figures recorded, by name."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = {row["figure"]: row for row in rows.iter_rows(named=True)}

    def value(self, name: str) -> float:
        """The median."""
        return self.rows[name]["median"]

    def spread(self, name: str, scale: float = 1.0) -> str:
        """The median and the range of its runs, divided by `scale`."""
        row = self.rows[name]
        middle, least, greatest = (_short(row[key] / scale) for key in ("median", "least", "greatest"))
        return middle if row["runs"] == 1 else f"{middle} [{least}, {greatest}]"


def record(measures: Iterable[Measure]) -> None:
    """Keep `measures`, in place of those of the same names that were recorded before."""
    kept = {row["figure"]: row for row in read().iter_rows(named=True)} if DATA.exists() else {}
    kept |= {m.name: _row(m) for m in measures}
    pl.DataFrame([kept[name] for name in sorted(kept)], infer_schema_length=None).write_csv(DATA)


def read() -> pl.DataFrame:
    """The figures recorded; a version may consist of digits only."""
    return pl.read_csv(DATA, schema_overrides={"version": pl.String})


def _row(measure: Measure) -> dict[str, object]:
    runs = np.atleast_1d(np.asarray(measure.runs, float))
    figures = {"median": np.median(runs), "least": runs.min(), "greatest": runs.max()}
    return {
        "figure": measure.name, "unit": measure.unit, **{key: float(f"{x:.4g}") for key, x in figures.items()},
        "runs": len(runs), "version": _version(), "date": date.today().isoformat(), "machine": _machine(),
    }  # fmt: skip


def _version() -> str:
    """The commit that last changed the source; with a mark if it has changes that are not committed."""
    return _git("log", "-1", "--format=%h", "--", "src") + ("-dirty" if _git("status", "--porcelain", "src") else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"


def write_pages() -> None:
    """Fill the tables and sentences of both pages from the data, and draw the figure."""
    rows = read()
    draw(dict(rows.select("figure", "median").iter_rows()))
    goals(Recorded(rows)).write_csv(GOALS)
    fill(PAGE, blocks(rows))
    fill(EXPLAINED, explained(rows))


def blocks(rows: pl.DataFrame) -> dict[str, str]:
    """What stands in each place of the page."""
    recorded = Recorded(rows)
    made: dict[str, Callable[[Recorded], str]] = {
        "answer": _answer, "stopping": _stopping, "throughput": _throughput, "ratios": _ratios, "links": _links,
        "first": _first, "ends": _ends, "growth": _growth, "learning": _learning, "prototype": _prototype,
        "goals": _goals,
    }  # fmt: skip
    return {"machine": _runs(rows)} | {name: block(recorded) for name, block in made.items()}


def explained(rows: pl.DataFrame) -> dict[str, str]:
    """What stands in each place of the page that explains the figures."""
    recorded = Recorded(rows)

    def ratios(load: str, figure: str) -> list[float]:
        return [recorded.value(f"throughput/{policy}/{load}/{figure}") for policy in POLICIES]

    def logged(load: str) -> str:
        pairs = zip(ratios(load, "jobs_per_s"), ratios(load, "jobs_per_s_logged"), strict=True)
        return f"{_range([without / with_it for without, with_it in pairs])} times as long at load {load}"

    same = _range([ratio for load in LOADS for ratio in ratios(load, "of_same_cpp")])
    ours, bare = (1e9 / recorded.value(f"throughput/fifo/0.9/{of}jobs_per_s") for of in ("", "bare_cpp/"))
    return {
        "numba": f"The core compiled by numba is {same} times as fast as the same statements compiled by g++ −O3.",
        "job": f"A job of `fifo` at load 0.9 costs {_short(ours)} ns (two events, two scheduling cycles). "
        f"A bare C++ program for `fifo` alone needs {_short(bare)} ns.",
        "log": f"With the log a run takes {' and '.join(logged(load) for load in LOADS)}.",
    }


def _answer(recorded: Recorded) -> str:
    def usual(policy: str) -> str:
        return _short(recorded.value(f"stopping/{policy}/realistic/jobs_per_s") / 1e3)

    def rates(load: str) -> str:
        values = [recorded.value(f"throughput/{policy}/{load}/jobs_per_s") for policy in POLICIES]
        return f"{_short(min(values) / 1e6)} to {_short(max(values) / 1e6)} million jobs a second at load {load}"

    cold = [recorded.value(f"cold/first/{policy}/wall_s") for policy in COMPILED]
    again = [recorded.value(f"cold/again/{policy}/wall_s") for policy in COMPILED]
    report = recorded.value("end_to_end/1000000/csv_with_report/cpu_s")
    return "\n".join(
        (
            f"* **With the default overheads**, at load 1.05, the engine simulates {usual('gittins')} thousand jobs a "
            f"second under `gittins`, {usual('dally')} under `dally` and {usual('fifo-backfill')} under "
            "`fifo-backfill`, on one core.",
            f"* **Without overheads** it simulates {rates('0.9')} and {rates('1.05')} under classical policies.",
            f"* **A million jobs, from a CSV file to the report**, take {_short(report)} s of CPU time.",
            f"* **A first command** takes {_range(cold)} s in a clone, because it compiles; from a wheel, and later, "
            f"{_range(again)} s.",
        )
    )


def _stopping(recorded: Recorded) -> str:
    rows = [
        [
            f"`{policy}`",
            *(recorded.spread(f"stopping/{policy}/{overheads}/jobs_per_s", 1e3) for overheads in OVERHEADS),
            _short(recorded.value(f"stopping/{policy}/event_ratio")),
        ]
        for policy in STOPPING
    ]
    return markdown(["policy", "realistic", "none", "cost of an event, realistic/none"], rows)


def _throughput(recorded: Recorded) -> str:
    rows = [
        [f"`{policy}`", *(recorded.spread(f"throughput/{policy}/{load}/jobs_per_s", 1e6) for load in LOADS)]
        for policy in POLICIES
    ]
    return markdown(["policy", *(f"load {load}" for load in LOADS)], rows)


def _ratios(recorded: Recorded) -> str:
    def cell(policy: str, figure: str, load: str) -> str:
        name = f"throughput/{policy}/{load}/{figure}"
        return recorded.spread(name) if name in recorded.rows else "–"

    heads = [f"{what}, load {load}" for what in RATIOS.values() for load in LOADS]
    rows = [
        [f"`{policy}`", *(cell(policy, figure, load) for figure in RATIOS for load in LOADS)] for policy in POLICIES
    ]
    return markdown(["policy", *heads], rows)


def _links(recorded: Recorded) -> str:
    def rate(kind: str) -> str:
        values = [recorded.value(f"contended/dally/{load}/{kind}/jobs_per_s") / 1e3 for load in ("0.95", "1.05")]
        return f"`{kind}` {'/'.join(map(_short, values))}"

    return (
        "Thousand jobs a second of `dally` with models, at load 0.95/1.05, by `--contention`: "
        f"{', '.join(rate(kind) for kind in LINKS)}."
    )


def _first(recorded: Recorded) -> str:
    rows = [
        [f"`{policy}`", *(_short(recorded.value(f"cold/{when}/{policy}/wall_s")) for when in EDITS)]
        for policy in COMPILED
    ]
    table = markdown(["policy", *EDITS.values()], rows)
    warmup, common = (recorded.spread(f"cold/{what}/wall_s") for what in ("warmup", "common"))
    return f"{table}\n`pointsman warmup` takes {warmup} s, what every run needs (in `make .venv`) {common} s."


def _ends(recorded: Recorded) -> str:
    rows = [
        [what, recorded.spread(f"end_to_end/{name}/cpu_s"), recorded.spread(f"end_to_end/{name}/peak_mb")]
        for name, what in ENDS.items()
    ]
    return markdown(["log", "CPU seconds", "highest memory, MB"], rows)


def _growth(recorded: Recorded) -> str:
    def most(sweep: str) -> str:
        return _range(
            [recorded.value(f"scaling/{sweep}/{policy}") for policy in ("fifo", "fifo-backfill", "srtf", "las")]
        )

    return (
        f"The most expensive event costs {most('jobs')} times the least expensive one as logs grow, "
        f"and {most('gpus')} times as clusters grow."
    )


def _learning(recorded: Recorded) -> str:
    def rate(name: str) -> str:
        return recorded.spread(f"environments/{name}_per_s", 1e3)

    return (
        f"Thousand steps a second of 256 environments on two cores: bare observation {rate('pick/vector/vector')}, "
        f"TopDRL's window {rate('pick/topdrl/vector')}, gangs on 64 servers {rate('gang/gangs/vector')}. "
        f"One environment through Gymnasium: {rate('pick/vector/single')}."
    )


def _prototype(recorded: Recorded) -> str:
    def range_of(kind: str) -> str:
        names = [
            f"prototype/{policy}/{load}/of_{kind}" for policy in ("fifo", "fifo-backfill", "srtf") for load in LOADS
        ]
        return _range([recorded.value(name) for name in names])

    return (
        f"On the same jobs the engine is {range_of('cpp')} times as fast as its C++, "
        f"and {range_of('python')} times as fast as its Python."
    )


def _goals(recorded: Recorded) -> str:
    """How many goals of ``budgets.yaml`` are met, and those that are not."""
    goals = _goals_of(recorded)
    missed = {name: b for name, b in goals.items() if not b.meets(recorded.value(name))}
    said = f"{len(goals) - len(missed)} of {len(goals)} [goals](data/speed-goals.csv) are met"
    if not missed:
        return f"{said}."
    worst = sorted(missed, key=lambda name: -missed[name].missed_by(recorded.value(name)))[:MOST_MISSED]
    rows = [[f"`{name}`", _goal(goals[name]), recorded.spread(name)] for name in worst]
    which = "these are not" if len(worst) == len(missed) else "of the others these are missed by most"
    return f"{said}; {which}:\n\n" + markdown(["figure", "goal", "measured"], rows)


def _goals_of(recorded: Recorded) -> dict[str, Budget]:
    return {name: b for name, b in load_budgets().items() if name in recorded.rows and b.goal is not None}


def goals(recorded: Recorded) -> pl.DataFrame:
    """Every goal, beside what was measured."""
    return pl.DataFrame(
        [
            {"figure": name, "goal": _goal(b), "measured": recorded.value(name), "met": b.meets(recorded.value(name))}
            for name, b in _goals_of(recorded).items()
        ]
    )


def _runs(rows: pl.DataFrame) -> str:
    """Of what version, when and where the figures are."""

    def said(column: str) -> str:
        return ", ".join(sorted(set(rows[column])))

    return f"Version `{said('version')}`, {said('date')}, {said('machine')}."


def _goal(budget: Budget) -> str:
    return f"{budget.sign} {_short(budget.goal or 0.0)}"


def _range(values: Sequence[float]) -> str:
    least, most = _short(min(values)), _short(max(values))
    return least if least == most else f"{least} to {most}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
