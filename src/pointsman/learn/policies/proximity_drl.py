"""Proximity-DRL: a network chooses the GPUs of the next job, one after another."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import InputError, UsageError
from pointsman.learn.environments.compiled.columns import LATER, NOW, OVER_LIMIT
from pointsman.learn.policies.learned import Seen, trained
from pointsman.types import Knowledge, Reason

if TYPE_CHECKING:
    from pointsman.policies.sdk import View

KEYS = {"fcfs": ("row", 1), "sjf": ("estimate", 1), "tetris": ("asked", -1), "drf": ("asked", 1)}
"""By the order of waiting jobs, what is least of the next one."""


class ProximityDrl:
    """A trained network chooses the GPUs of the next job (or nodes, beyond 64 GPUs), and whether it waits instead; jobs
    come in the order in which they came in training, and the first blocks.
    """

    name: ClassVar[str] = "proximity-drl"
    needs: ClassVar[Knowledge] = "oracle"
    placement: ClassVar[str] = "spread"  # any free GPUs will do
    source: ClassVar[str] = "Deng et al., GPU job scheduler with deep reinforcement learning, Canadian AI 2024"

    def __init__(self, checkpoint: str = "") -> None:
        """`checkpoint` is a directory; by default the shipped one."""
        from pointsman.engine.sdk.environments import unit
        from pointsman.learn.environments.compiled.columns import ADDRESS, SIM_COLUMNS
        from pointsman.learn.environments.loading import DECIDING, observation_unit

        made = trained(self.name, checkpoint)
        order = made.card.environment.get("picker", "fcfs")
        if order not in KEYS:
            raise InputError(f"trained on jobs in the order {order!r}, which no policy can follow", path=checkpoint)
        self._key, self._sign = KEYS[order]
        builder = made.card.observation.name
        self._seen, self._observe = Seen(made, builder), unit(observation_unit(builder)).observe_all
        self._sims, self._column = np.zeros((1, SIM_COLUMNS), np.int64), ADDRESS
        self._window, self._mask = np.full((1, 1), -1, np.int64), np.zeros(self._seen.actions, np.int8)
        self._deciding = unit(DECIDING)

    def new_memory(self) -> NDArray[np.float64]:
        """What ``State.memory`` is before the first event: as in training."""
        from pointsman.learn.environments.compiled.columns import AgentMemory

        return AgentMemory.zeros()

    def decide(self, view: "View") -> None:
        """Place jobs until the next one does not fit, or the network would wait; queues at their limit are passed."""
        by_gpu = int(_chooses_gpus(view))
        for job in self._in_order(view) if view.free_gpus > 0 else ():
            able = self._deciding.look_at(view.address, job, self._mask, by_gpu)
            if able == LATER or (able == NOW and not self._place(view, job, by_gpu)):
                return

    def _in_order(self, view: "View") -> list[int]:
        """Waiting jobs by priority, and then in their order."""
        jobs = view.jobs[view.pending]
        order = np.lexsort((jobs["row"], self._sign * jobs[self._key], jobs["neg_priority"]))
        return view.pending[order].tolist()

    def _place(self, view: "View", job: int, by_gpu: int) -> bool:
        """Whether `job` starts, on what the network chooses; `_mask` says what there is."""
        answer = -1
        while answer < 0:
            self._observe_for(view, job)
            action = self._seen.best(self._mask != 0)
            if action == self._seen.actions - 1:
                return False
            answer = self._deciding.choose(view.address, job, action, by_gpu)
            if answer < 0:
                self._deciding.look_at(view.address, job, self._mask, by_gpu)
        return answer == Reason.OK

    def _observe_for(self, view: "View", job: int) -> None:
        """Write what the network sees when it places `job`."""
        self._sims[0, self._column], self._window[0, 0] = view.address, job
        self._observe(self._sims, self._window, self._seen.out[None], 0, 1)

    def why_waiting(self, view: "View", job: int, name: Callable[[int], str]) -> tuple[Reason, str] | None:
        """Says of a waiting job that fits which goes before it, or that the network would rather wait."""
        by_gpu, look_at = int(_chooses_gpus(view)), self._deciding.look_at
        order = self._in_order(view)
        passed = OVER_LIMIT
        first = next(each for each in order if look_at(view.address, each, self._mask, by_gpu) != passed)
        if first != job:
            ahead = f"ahead of this one: {order.index(job):,}"
            return Reason.Priority, f"it would fit, but job {name(first)} goes first ({ahead})"
        self._observe_for(view, job)
        chances = self._seen.chances(self._mask != 0)
        if chances[-1] < chances.max():
            return Reason.HeldByDelay, "it would fit, and the network starts it at its next decision"
        return Reason.HeldByDelay, (
            f"it would fit and is first in line, but the network chose to wait (probability {chances[-1]:.2g})"
        )

    def copy(self) -> "ProximityDrl":
        """Itself: it remembers nothing from one decision to the next."""
        return self


def _chooses_gpus(view: "View") -> bool:
    """Whether GPUs are chosen, or nodes.

    Raises:
        UsageError: they are too many.
    """
    from pointsman.learn.environments.compiled.observations.proximity import MOST_GPUS, PLACES

    if view.gpus > MOST_GPUS and len(view.free_by_node) > PLACES:
        raise UsageError(f"proximity-drl chooses among at most {PLACES} nodes; there are {len(view.free_by_node)}")
    return view.gpus <= MOST_GPUS
