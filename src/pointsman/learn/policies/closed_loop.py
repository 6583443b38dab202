"""The closed loop of a policy that places jobs by a model: see how fast they run, correct the model, place by it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.sdk.environments import table_of_policy, unit
from pointsman.learn.environments.compiled.columns import NOTED
from pointsman.learn.environments.loading import WATCHING
from pointsman.policies.placers.declared import MOST_CANDIDATES
from pointsman.speed.interference.learned.file import MOST
from pointsman.speed.interference.online.learner import times_of
from pointsman.speed.interference.online.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pointsman.learn.policies.exploration import Exploration
    from pointsman.policies.sdk import View
    from pointsman.speed.interference.learned.combinations import Server
    from pointsman.speed.interference.learned.file import LearnedSpec
    from pointsman.speed.interference.online.learner import InterferenceLearner

Floats = NDArray[np.float64]


class ClosedLoop:
    """What a policy's attribute ``interference`` is: it measures, and corrects the table by which the policy forecasts
    (Yang et al., IEEE TCC 2023).
    """

    def __init__(self, learner: "InterferenceLearner", exploration: "Exploration") -> None:
        self.learner, self.exploration, self.begun = learner, exploration, False
        self.ledger = Ledger([])
        self._forget()

    def _forget(self) -> None:
        self.ends = 0
        """Jobs that have ended since the last fit."""
        self._errors: list[float] = []
        self._noted = np.zeros((0, 0))

    def begin(
        self, models: "Sequence[str]", servers: "Sequence[Server]", profiles: "Sequence[str | Path]" = ()
    ) -> None:
        """Be told of the models of jobs, the kinds of servers and the files of model profiles of a run, before it."""
        self._forget()
        self.profiles = profiles
        self.learner.begin(models, servers)
        self.ledger = Ledger([one.combinations for one in self.learner.of_server])
        self.exploration.begin()
        self.begun = True

    @property
    def spec(self) -> "LearnedSpec":
        """What is expected of these at the beginning of the run."""
        return self.learner.spec

    def read(self, view: "View") -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Reads the running jobs, unless they are as they were the last time: the rows (n) of the table that their
        combinations have, and how many times as long they compute (n).
        """
        factor, slots = table_of_policy(view.state).factor, len(view.state.jobs)
        watching = unit(WATCHING)
        if len(self._noted) < slots:
            self._noted = np.full((slots, NOTED), -1.0)
            self._rows, self._slow_downs = np.zeros(slots, np.int64), np.zeros(slots)
        many = watching.watch(view.address, factor, self._noted, self._rows, self._slow_downs)
        return self._rows[:many].copy(), self._slow_downs[:many].copy()

    def learn(self, view: "View", refit: bool) -> None:
        """Believe what is seen now, and perhaps fit all else to it."""
        rows, slow_downs = self.read(view)
        slow_downs = np.maximum(slow_downs, 1.0)  # no job computes faster than alone; a measurement may say so
        if len(rows):
            wrong = np.abs(times_of(self.learner.predicted[rows]) / slow_downs - 1.0)
            self._errors += wrong.tolist()
            self.ledger.see(rows, wrong)
            self.learner.see(rows, slow_downs)
        if refit:
            self.learner.refit()
            self.ends = 0
            self.tell(view)
        elif len(rows):
            self._write(view, rows)

    def model_of(self, view: "View", job: int) -> int:
        """Which of the learner's models a job has; -1 if none."""
        return unit(WATCHING).model(view.address, table_of_policy(view.state).factor, job)

    def take_error(self) -> float | None:
        """The mean share by which forecasts of slow-downs were wrong since this was last asked; None: none were."""
        errors, self._errors = self._errors, []
        return float(np.mean(errors)) if errors else None

    def weigh(self, view: "View", job: int, mask: NDArray[np.int8]) -> tuple[Floats, Floats]:
        """Weighs each candidate of a job, all just measured: how many times as long it takes, with the harm it
        does, and how little is known of its nodes.
        """
        slowness, unknown = np.empty(MOST_CANDIDATES), np.empty(MOST_CANDIDATES)
        uncertainty = self.ledger.uncertainty(self.learner.disagreement)
        unit(WATCHING).weigh(
            view.address, table_of_policy(view.state).factor, job, mask, uncertainty, slowness, unknown
        )
        return slowness, unknown

    def tell(self, view: "View") -> None:
        """From now on the table says what the learner predicts."""
        self._write(view, slice(None))
        table_of_policy(view.state).write_law(times_of(self.learner.laws, least=1 / MOST).ravel())

    def _write(self, view: "View", rows: NDArray[np.int64] | slice) -> None:
        """Tell the engine how many times as long combinations `rows` of the table are predicted to take."""
        table_of_policy(view.state).write(rows, times_of(self.learner.predicted[rows]))
