"""Figures, what they must reach, and whether they still do (``budgets.yaml``)."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

BUDGETS = Path(__file__).with_name("budgets.yaml")
HEADER = """\
# What the benchmarks must reach. `at_least` and `at_most` are goals; `known` is the median recorded last; `margin` is
# the share of it that a run may fall short by. A figure that meets its goal passes; one that does not, or that has no
# goal (more is better then), breaks its budget only if it is also worse than what is known by more than the margin.
# `python -m benchmarks --record` writes what is known.
"""
Runs = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A figure, named by a path such as ``throughput/fifo/0.9/of_same_cpp``, and what each of its runs gave."""

    name: str
    runs: Runs | Sequence[float] | float
    unit: str = ""

    @property
    def value(self) -> float:
        """The median of its runs."""
        return float(np.median(self.runs))


@dataclass(frozen=True)
class Budget:
    """What a figure must reach. At most one of `at_least` and `at_most` is its goal; without one more is better."""

    margin: float
    known: float | None = None
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

    def missed_by(self, value: float) -> float:
        """How many times `value` would have to be as good to reach the goal."""
        return (self.at_least or 0.0) / value if self.at_most is None else value / self.at_most

    def holds(self, value: float) -> bool:
        """Whether `value` meets the goal, or is at least no worse than known by more than the margin."""
        if self.meets(value) or self.known is None:
            return self.meets(value)
        slack = self.margin * self.known
        return value >= self.known - slack if self.at_most is None else value <= self.known + slack


def load_budgets() -> dict[str, Budget]:
    """The budgets by the name of their figure."""
    return {name: Budget(**fields) for name, fields in yaml.safe_load(BUDGETS.read_text()).items()}


def remember(measures: Iterable[Measure]) -> None:
    """Write what the figures with budgets are now known to be, one line each."""
    values = {m.name: float(f"{m.value:.4g}") for m in measures}
    lines = []
    for name, budget in load_budgets().items():
        b = replace(budget, known=values.get(name, budget.known))
        fields = {"at_least": b.at_least, "at_most": b.at_most, "known": b.known, "margin": b.margin}
        given = ", ".join(f"{key}: {value:.9g}" for key, value in fields.items() if value is not None)
        lines.append(f"{name}: {{{given}}}\n")
    BUDGETS.write_text(HEADER + "".join(lines))


def interleaved(runs: dict[str, Callable[[], float]], rounds: int = 5) -> dict[str, Runs]:
    """Each run's seconds by round, taken A, B, B, A, A, B so that a slow spell of the machine hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for i in range(rounds):
        for name in list(runs)[:: -1 if i % 2 else 1]:
            seconds[name].append(runs[name]())
    return {name: np.array(each) for name, each in seconds.items()}


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


def _verdict(budget: Budget, value: float) -> str:
    if budget.goal is None:
        return f"no goal, {_number(budget.known or 0.0)} before{'' if budget.holds(value) else ': BROKEN'}"
    word = "met" if budget.meets(value) else "missed, as known" if budget.holds(value) else "BROKEN"
    return f"goal {budget.sign} {_number(budget.goal)}: {word}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
