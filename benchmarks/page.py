"""The tables of ``docs/results/speed.md``, written between its markers from the figures recorded last."""

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.measures import Budget, Measure, load_budgets

PAGE = Path(__file__).parent.parent / "docs" / "results" / "speed.md"
FIGURES = PAGE.with_suffix(".json")
BEGIN, END = "<!-- measured by python -m benchmarks --record -->", "<!-- end of what was measured -->"
POLICIES = ("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf", "las", "tiresias")
COLUMNS = {
    "jobs_per_s": "jobs/s", "jobs_per_s_logged": "with the plan log", "preemptions": "preemptions per job",
    "of_same_cpp": "× the same in C++", "of_bare_cpp": "× bare C++", "of_bare_cpp_logged": "… with the plan log",
    "of_same_python": "× the same in Python", "of_python": "× bare Python",
}  # fmt: skip


def record(measures: Iterable[Measure]) -> None:
    """Keep `measures` beside those recorded before, and write the page."""
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    kept |= {m.name: {"value": float(f"{m.value:.4g}"), "unit": m.unit} for m in measures}
    FIGURES.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n{_tables({n: f['value'] for n, f in kept.items()})}{END}{tail}")


def _tables(values: dict[str, float]) -> str:
    loads = sorted({name.split("/")[2] for name in values if name.startswith("throughput/")})
    parts = [f"\n### Load {load}\n\n{_throughput(values, load)}" for load in loads]
    return f"{''.join(parts)}\n### What was asked for\n\n{_goals(values)}\n"


def _throughput(values: dict[str, float], load: str) -> str:
    lines = [f"| policy | {' | '.join(COLUMNS.values())} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for policy in POLICIES:
        row = [values.get(f"throughput/{policy}/{load}/{column}") for column in COLUMNS]
        if any(value is not None for value in row):
            lines.append(f"| `{policy}` | {' | '.join('' if v is None else _number(v) for v in row)} |")
    return "\n".join(lines) + "\n"


def _goals(values: dict[str, float]) -> str:
    """How many goals of ``budgets.yaml`` are met, and those that are not."""
    goals = {name: budget for name, budget in load_budgets().items() if name in values and budget.goal is not None}
    missed = [
        f"| {name} | {_goal(b)} | {_number(values[name])} |" for name, b in goals.items() if not b.meets(values[name])
    ]
    said = f"{len(goals) - len(missed)} of {len(goals)} goals of `benchmarks/budgets.yaml` are met"
    if not missed:
        return f"{said}; every figure is in `docs/results/speed.json`.\n"
    return "\n".join([f"{said}; these are not:\n", "| figure | goal | measured |", "|---|---|---|", *missed]) + "\n"


def _goal(budget: Budget) -> str:
    return f"{budget.sign} {_number(budget.goal or 0.0)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
