"""Figures, what they must reach, and whether they still do (``budgets.yaml``)."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

BUDGETS = Path(__file__).with_name("budgets.yaml")
HEADER = """\
# What the benchmarks must reach, and what they did reach. `at_least` and `at_most` are goals; `mean` and `spread`
# (standard deviation) are of `runs` runs on the developers' machine (2 shared cores); `margin` is the share of the mean
# that a run may fall short by. A figure that meets its goal passes; one that does not, or that has no goal (more is
# better then), breaks its budget only if it is also worse than the mean by more than the margin.
# `python -m benchmarks --record` adds a run to mean and spread.
"""


@dataclass(frozen=True)
class Measure:
    """A figure, named by a path such as ``throughput/fifo/0.9/of_cpp``."""

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True)
class Budget:
    """What a figure must reach. At most one of `at_least` and `at_most` is its goal; without one more is better."""

    mean: float
    spread: float
    runs: int
    margin: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def goal(self) -> float | None:
        """The figure asked for, if any."""
        return self.at_most if self.at_least is None else self.at_least

    @property
    def sign(self) -> str:
        """Which way the goal is."""
        return "≥" if self.at_most is None else "≤"

    def meets(self, value: float) -> bool:
        """Whether there is a goal and `value` reaches it."""
        if self.at_most is not None:
            return value <= self.at_most
        return self.at_least is not None and value >= self.at_least

    def holds(self, value: float) -> bool:
        """Whether `value` meets the goal, or is at least no worse than known by more than the margin."""
        slack = self.margin * self.mean
        known = value >= self.mean - slack if self.at_most is None else value <= self.mean + slack
        return self.meets(value) or (self.runs > 0 and known)

    def with_run(self, value: float) -> "Budget":
        """The budget after one more run."""
        runs = self.runs + 1
        mean = self.mean + (value - self.mean) / runs
        squares = self.spread**2 * max(self.runs - 1, 0) + (value - self.mean) * (value - mean)
        spread = math.sqrt(squares / (runs - 1)) if runs > 1 else 0.0
        return Budget(mean, spread, runs, self.margin, self.at_least, self.at_most)


def load_budgets() -> dict[str, Budget]:
    """The budgets by the name of their figure."""
    return {name: Budget(**fields) for name, fields in yaml.safe_load(BUDGETS.read_text()).items()}


def save_budgets(budgets: dict[str, Budget]) -> None:
    """Write `budgets` back, one line each."""
    lines = []
    for name, b in budgets.items():
        goals = {"at_least": b.at_least, "at_most": b.at_most}
        goal = "".join(f"{name}: {asked:.9g}, " for name, asked in goals.items() if asked is not None)
        mean, spread = float(f"{b.mean:.4g}"), float(f"{b.spread:.2g}")  # as YAML reads numbers: 1e+02 is a word
        fields = f"{goal}mean: {mean}, spread: {spread}, runs: {b.runs}, margin: {b.margin:g}"
        lines.append(f"{name}: {{{fields}}}\n")
    BUDGETS.write_text(HEADER + "".join(lines))


def interleaved(runs: dict[str, Callable[[], float]], rounds: int = 5) -> dict[str, float]:
    """The median of each run's seconds, taken A, B, B, A, A, B so that a slow spell of the machine hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for i in range(rounds):
        for name in list(runs)[:: -1 if i % 2 else 1]:
            seconds[name].append(runs[name]())
    return {name: median(each) for name, each in seconds.items()}


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of this process that `work` takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def judge(measures: Iterable[Measure]) -> tuple[list[Measure], bool]:
    """Print each figure as it comes beside its goal: all of them, and whether no budget is broken."""
    budgets = load_budgets()
    seen, unbroken = [], True
    for m in measures:
        line = f"{m.name:44} {_number(m.value):>12} {m.unit:12}"
        budget = budgets.get(m.name)
        if budget is not None:
            line += _verdict(budget, m.value)
            unbroken &= budget.holds(m.value)
        print(line.rstrip(), flush=True)
        seen.append(m)
    return seen, unbroken


def remember(measures: Iterable[Measure]) -> None:
    """Add a run to the means of the budgets."""
    budgets = load_budgets()
    for m in measures:
        if m.name in budgets:
            budgets[m.name] = budgets[m.name].with_run(m.value)
    save_budgets(budgets)


def _verdict(budget: Budget, value: float) -> str:
    if budget.goal is None:
        return f"no goal, {_number(budget.mean)} before{'' if budget.holds(value) else ': BROKEN'}"
    word = "met" if budget.meets(value) else "missed, as known" if budget.holds(value) else "BROKEN"
    return f"goal {budget.sign} {_number(budget.goal)}: {word}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
