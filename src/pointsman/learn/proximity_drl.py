"""Proximity-DRL: a network chooses the GPUs of the next job, one after another."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pointsman.errors import InputError
from pointsman.learn.learned import Seen, trained
from pointsman.types import Knowledge, Reason

if TYPE_CHECKING:
    from pointsman.engine.view import View

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
        from pointsman.learn.environments.columns import ADDRESS, DESK
        from pointsman.learn.environments.loading import load_observation

        made = trained(self.name, checkpoint)
        order = made.card.environment.get("picker", "fcfs")
        if order not in KEYS:
            raise InputError(f"trained on jobs in the order {order!r}, which no policy can follow", path=checkpoint)
        self._key, self._sign = KEYS[order]
        builder = made.card.observation.name
        self._seen, self._observe = Seen(made, builder), load_observation(builder).observe_all
        self._desk, self._address = np.zeros((1, DESK), np.int64), ADDRESS
        self._window = np.full((1, 1), -1, np.int64)

    def decide(self, view: "View") -> None:
        """Place jobs until the next one does not fit, or the network would wait."""
        while view.pending_count > 0:
            pending = view.pending
            job = int(pending[np.argmin(self._sign * view.jobs[self._key][pending])])
            gpus = self._chosen(view, job) if view.fits(job) else None
            if gpus is None or view.start(job, gpus) != Reason.OK:
                return

    def _chosen(self, view: "View", job: int) -> list[tuple[int, int]] | None:
        """(node, GPU) pairs for `job`, or None if it is to wait."""
        state: Any = view._state
        need, chosen = int(view.jobs["asked"][job]), list[tuple[int, int]]()
        by_gpu = view.gpus <= _most_gpus()
        free = {node: view.free_on(node) for node in sorted(_nodes(view, job))}
        first = state.nodes["gpu0"]
        try:
            while len(chosen) < need:
                mask = np.zeros(self._seen.actions, bool)
                mask[[int(first[n]) + i if by_gpu else n for n, left in free.items() for i in left]] = True
                mask[-1] = not chosen and len(view.running) > 0
                action = self._action(view, job, mask)
                if action == self._seen.actions - 1:
                    return None
                node = int(np.searchsorted(first, action, side="right")) - 1 if by_gpu else action
                taken = [action - int(first[node])] if by_gpu else free[node][: need - len(chosen)]
                free[node] = [i for i in free[node] if i not in taken]
                chosen += [(node, i) for i in taken]
                state.gpus["s0"][[int(first[node]) + i for i in taken]] = 1.0
            return chosen
        finally:
            state.gpus["s0"][[int(first[node]) + i for node, i in chosen]] = 0.0

    def _action(self, view: "View", job: int, mask: np.ndarray) -> int:
        self._desk[0, self._address], self._window[0, 0] = view._address, job
        self._observe(self._desk, self._window, self._seen.out[None], 0, 1)
        return self._seen.best(mask)

    def copy(self) -> "ProximityDrl":
        """Itself: it remembers nothing from one decision to the next."""
        return self


def _nodes(view: "View", job: int) -> set[int]:
    """Nodes with free GPUs of a type that the job may have now."""
    nodes = view._state.nodes
    types = {int(nodes["gpu_type"][node]) for node, _ in view.find(job)}
    return {int(n) for n in np.flatnonzero(view.free_by_node) if int(nodes["gpu_type"][n]) in types}


def _most_gpus() -> int:
    from pointsman.learn.environments.observations.proximity import MOST_GPUS

    return MOST_GPUS
