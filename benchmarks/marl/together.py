"""Runs of MARL that ask one network together: each waits, in a thread of its own, until all that still run wait.

So a pass of the network serves as many decisions as there are runs, in half the time. Which decisions share a
pass follows from the runs alone, not from how threads take turns.
"""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from benchmarks.placement.cell import mean_jct_s, run
from pointsman import Workload
from pointsman.learn.policies.marl import Marl

if TYPE_CHECKING:
    from pointsman.cluster.cluster import Cluster

Observation = Mapping[str, Tensor]


class Network:
    """One for several runs."""

    def __init__(self, runs: int) -> None:
        self._ask: Any = None
        self._running = runs
        self._asked: dict[int, Observation] = {}
        self._answers: dict[int, Tensor] = {}
        self._turn = threading.Condition()

    def joined_by(self, network: Any) -> None:
        """The network of one of the runs, all of which are alike."""
        self._ask = network

    def answer(self, seat: int, observation: Observation) -> Tensor:
        """(1, actions) what the network says to the run in this seat, as soon as it can answer all."""
        with self._turn:
            self._asked[seat] = observation
            self._answer_all()
            self._turn.wait_for(lambda: seat in self._answers)
            return self._answers.pop(seat)

    def leave(self) -> None:
        """A run is over."""
        with self._turn:
            self._running -= 1
            self._answer_all()

    def _answer_all(self) -> None:
        if not self._asked or len(self._asked) < self._running:
            return
        seats = sorted(self._asked)
        batch = {name: torch.cat([self._asked[seat][name] for seat in seats]) for name in self._asked[seats[0]]}
        with torch.inference_mode():
            logits, _ = self._ask(batch)
        self._answers = {seat: logits[i : i + 1] for i, seat in enumerate(seats)}
        self._asked.clear()
        self._turn.notify_all()


class Seated(Marl):
    """MARL, which asks the network of all."""

    def __init__(self, network: Network, seat: int, **params: Any) -> None:
        super().__init__(**params)
        self._shared, self._seat = network, seat

    def on_cluster(self, cluster: "Cluster") -> None:
        super().on_cluster(cluster)
        self._shared.joined_by(self._judge.seen.network)
        self._judge.seen.network = self._answered  # ty: ignore

    def _answered(self, observation: Observation) -> tuple[Tensor, None]:
        return self._shared.answer(self._seat, observation), None


def mean_jcts_s(workloads: Sequence[Workload], on: str, seeds: Sequence[int], params: Mapping[str, Any]) -> list[float]:
    """Mean JCT of each of the workloads, in seconds."""
    network = Network(len(workloads))

    def one(seat: int) -> float:
        try:
            return mean_jct_s(run(workloads[seat], on, Seated(network, seat, **params), seed=seeds[seat]))
        finally:
            network.leave()

    with ThreadPoolExecutor(len(workloads)) as threads:
        return list(threads.map(one, range(len(workloads))))
