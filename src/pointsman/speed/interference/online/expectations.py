"""What to expect of interference before anything was measured, corrected by each run in turn.

The law that a run fits to what it sees begins at what is expected, so expectations are weights that were learnt for
being adapted. Each way to correct them is one of the field's; in a linear law each is a formula.
"""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from pointsman.speed.interference.learned.combinations import Combination
from pointsman.speed.interference.online.coefficients import Coefficients, Floats, Rows
from pointsman.speed.interference.online.file import ServerExperience, experience_of
from pointsman.speed.interference.online.performance_model import NOISE, Expected, Seen

Method = Literal["mean", "reptile", "fine-tuning", "fomaml"]
STEPS: Final[dict[Method, float]] = {"reptile": 0.3, "fine-tuning": 1.0, "fomaml": 1.0}
"""How far a run moves them, where nothing else is said (ours); the mean, by the share of one run among all so far."""


class Expectations:
    """What is expected of each kind of server before a run, and from how many runs that was learnt.

    Args:
        method: ``mean``: the mean of the laws of all runs (empirical Bayes). ``reptile``: a step towards the law of the
            run (Nichol et al., 2018). ``fine-tuning``: that law. ``fomaml``: first-order MAML (Finn et al., ICML 2017):
            a step down the error that a law, fitted to half of what the run saw, has on the other half.
        step: as of `STEPS`; None: that.
    """

    def __init__(
        self, method: Method, step: float | None = None, now: Sequence[ServerExperience] = (), runs: int = 0
    ) -> None:
        self.method, self.step, self.runs = method, step, runs
        self._now = {one.server: one for one in now}

    @property
    def now(self) -> list[ServerExperience]:
        """By kind of server, without anything seen, for that was under another truth."""
        return [self._now[server] for server in sorted(self._now)]

    def learn(self, run: Sequence[ServerExperience], seed: int) -> None:
        """Correct them by a run; `seed` divides what it saw."""
        self.runs += 1
        for one in run:
            before = self._now[one.server].expected if one.server in self._now else None
            self._now[one.server] = experience_of(one.server, self._correct(before, one, seed), {})

    def _correct(self, before: Expected | None, run: ServerExperience, seed: int) -> Expected:
        models = tuple(sorted({*(before.models if before else ()), *run.models}))
        old = (before or Expected()).of(models)
        if self.method == "fomaml":
            return Expected(models, old - self._step * _downhill(Expected(models, old), run, seed))
        return Expected(models, old + (self._step if before else 1.0) * (run.expected.of(models) - old))

    @property
    def _step(self) -> float:
        if self.step is not None:
            return self.step
        return 1.0 / self.runs if self.method == "mean" else STEPS[self.method]


def _downhill(expected: Expected, run: ServerExperience, seed: int) -> Floats:
    """(count) by how much the error on half of what was seen grows with each coefficient of the law that is fitted to
    the other half, over the mean square of the rows, beyond which a step of 1 would leap over the least error.
    """
    order = np.random.default_rng(seed).permutation(len(run.combinations))
    seen = [list(run.combinations.items())[k] for k in order]
    half = len(seen) // 2
    if half == 0:
        return np.zeros(len(expected.values))
    adapted = adapt(expected, dict(seen[:half]))
    rows, _ = _rows(adapted, dict(seen[half:]))
    return slope(adapted, dict(seen[half:])) / max(1.0, float((rows.values**2).sum(axis=1).mean()))


def adapt(expected: Expected, seen: dict[Combination, Seen]) -> Expected:
    """The law that was expected, fitted to what was seen."""
    precision = NOISE**2 / expected.scales(expected.models) ** 2
    rows, logs = _rows(expected, seen)
    wanted = logs - rows.times(expected.values)
    change = rows.fit(wanted, np.ones(len(seen)), precision, np.zeros(len(expected.values)))
    return Expected(expected.models, expected.values + change)


def error(law: Expected, seen: dict[Combination, Seen]) -> float:
    """Half the mean square error of log slow-downs."""
    rows, logs = _rows(law, seen)
    return float(np.mean((rows.times(law.values) - logs) ** 2)) / 2 if seen else 0.0


def slope(law: Expected, seen: dict[Combination, Seen]) -> Floats:
    """(count) of `error`, by each coefficient."""
    rows, logs = _rows(law, seen)
    return rows.transposed_times(rows.times(law.values) - logs) / max(1, len(seen))


def _rows(law: Expected, seen: dict[Combination, Seen]) -> tuple[Rows, Floats]:
    place = {name: i for i, name in enumerate(law.models)}
    return Coefficients(len(law.models)).rows(list(seen), place), np.array([one.log for one in seen.values()])
