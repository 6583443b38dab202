"""Proximity-DRL: a network chooses the GPUs of the next job, one after another."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pointsman.errors import InputError, UsageError
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
            job = self._next(view)
            gpus = self._chosen(view, job) if view.fits(job) else None
            if gpus is None or view.start(job, gpus) != Reason.OK:
                return

    def _next(self, view: "View") -> int:
        """The waiting job of the highest priority that is first in order."""
        jobs = view.jobs[view.pending]
        return int(view.pending[np.lexsort((jobs["row"], self._sign * jobs[self._key], jobs["unprio"]))[0]])

    def _chosen(self, view: "View", job: int) -> list[tuple[int, int]] | None:
        """(node, GPU) pairs for `job`, or None if it is to wait."""
        state: Any = view._state
        need, chosen = int(view.jobs["asked"][job]), list[tuple[int, int]]()
        by_gpu = _chooses_gpus(view)
        free = {node: view.free_on(node) for node in _nodes(view, job)}
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


def _nodes(view: "View", job: int) -> list[int]:
    """Nodes with free GPUs that the job may have, of the first of its alternatives with enough of them."""
    state: Any = view._state
    demand = state.classes[view.jobs["cls"][job]]
    for alternative in state.alts[demand["alt"] : demand["alt_end"]]:
        pools = state.ints[alternative["pool"] : alternative["pool_end"]]
        if state.pools["free"][pools].sum() >= demand["gpus"]:
            return np.flatnonzero((view.free_by_node > 0) & np.isin(state.nodes["pool"], pools)).tolist()
    return []


def _chooses_gpus(view: "View") -> bool:
    """Whether GPUs are chosen, or nodes.

    Raises:
        UsageError: they are too many.
    """
    from pointsman.learn.environments.observations.proximity import MOST_GPUS, PLACES

    if view.gpus > MOST_GPUS and len(view.free_by_node) > PLACES:
        raise UsageError(f"proximity-drl chooses among at most {PLACES} nodes; there are {len(view.free_by_node)}")
    return view.gpus <= MOST_GPUS
