"""LIF's choice and the features of its place, worked out a second time in plain Python on the states of random runs.

The servers of `two_sockets`: 2 × 2 GPUs, 6 cores, 0.9 GB/s of PCIe a socket, 3 GB/s to memory.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.jit.compile import exported
from pointsman.engine.placement.eligible import alternative_with_room
from pointsman.engine.run.view import View
from pointsman.engine.state.state_pointer import open_state
from pointsman.policies.placers.candidates.features import measure
from pointsman.policies.placers.candidates.neighbours import begin_decision
from pointsman.policies.placers.declared import PlacerMemory
from pointsman.policies.placers.lif import note_least_interference
from pointsman.types import Reason
from tests.engine.jit.compiled import compiled
from tests.free import simulate

from ...engine.rate_models.two_sockets import profile, profiles, server

KAPPA = 4.0
MODELS = {"hungry": (3.0, 100.0, 0.7), "mover": (0.5, 440.0, 0.5), "small": (1.0, 40.0, 1.0)}
"""Cores and MB/s of a GPU, and both thetas."""
Gpus = list[tuple[int, int]]
Jobs = Mapping[int, tuple[str, Gpus]]
"""Models and GPUs of running jobs."""
LATENCY = 1e-4
"""More than that of a hop between nodes, which counts in the rate, over a second of computing."""


@exported("int64(int64, int64)")
def lif(address: int, j: int) -> int:
    """The place of job `j` and, as of a candidate, its features."""
    S = open_state(address)
    note_least_interference(S, j, alternative_with_room(S, S.jobs[j].cls))
    begin_decision(S)
    measure(S, j, np.int64(0))
    return np.int64(0)


def psi(jobs: Jobs, j: int) -> float:
    """Of the worst worker."""
    cores, traffic = (
        {(job, gpu): MODELS[model][k] for job, (model, gpus) in jobs.items() for gpu in gpus} for k in (0, 1)
    )
    theta = MODELS[jobs[j][0]][2]
    worst = 1.0
    for n, g in jobs[j][1]:
        busy = sum(v for (_, (at, _)), v in cores.items() if at == n)
        pcie = sum(v for (_, (at, gpu)), v in traffic.items() if at == n and gpu // 2 == g // 2)
        memory = sum(v for (job, (at, _)), v in traffic.items() if at == n and job != j)
        longer = max(1.0, busy / 6) ** theta * max(1.0, pcie / 900) ** theta * (1 + KAPPA * theta * memory / 3000)
        worst = max(worst, longer)
    return float(np.floor(worst * 2**30 + 0.5) / 2**30)


def on_sockets(free: list[int], k: int) -> list[int]:
    """k of the free GPUs of a node: of one socket if one has them, the fuller one; else all of one, and more."""
    halves = [[g for g in free if g // 2 == s] for s in (0, 1)]
    enough = [half for half in halves if len(half) >= k]
    if enough:
        return min(enough, key=len)[:k]
    first, second = sorted(halves, key=len, reverse=True)
    return first + second[: k - len(first)]


def calmest(jobs: Jobs, j: int, model: str, free: Mapping[int, list[int]], workers: int) -> Gpus:
    counts = dict.fromkeys(free, 0)
    for _ in range(workers):

        def rank(n: int) -> tuple[float, int, int]:
            there = [(n, g) for g in on_sockets(free[n], counts[n] + 1)]
            return psi({**jobs, j: (model, there)}, j), counts[n] - len(free[n]), n

        counts[min((n for n in free if counts[n] < len(free[n])), key=rank)] += 1
    return [(n, g) for n, k in counts.items() for g in on_sockets(free[n], k)]


class Restates:
    """Starts jobs where LIF would, and checks where that is."""

    name, needs = "restates", "oracle"

    def __init__(self, models: list[str]) -> None:
        self.models = models
        self.checked = self.scattered = self.harmed = 0

    def decide(self, view: View) -> None:
        for j in view.pending.tolist()[:1]:
            if view.jobs["asked"][j] <= view.free_gpus:
                assert view.start(j, self._place(view, j)) == Reason.OK

    def _place(self, view: View, j: int) -> Gpus:
        handle = view._simulation.handle
        names = self.models
        jobs = {k: (names[int(view.jobs["row"][k])], held(handle.state, k)) for k in view.running.tolist()}
        model, free = names[int(view.jobs["row"][j])], {n: list(view.free_on(n)) for n in range(4)}
        wanted = calmest(jobs, j, model, free, int(view.jobs["asked"][j]))
        compiled(lif)(handle.address, np.int64(j))
        parts = handle.state.place[: int(handle.state.g["placed"][0])]
        found = [(int(p["node"]), g) for p in parts for g in range(4) if int(p["mask"]) >> g & 1]
        assert sorted(found) == sorted(wanted)
        self._check_features(view, {**jobs, j: (model, wanted)}, j, free)
        return found

    def _check_features(self, view: View, jobs: Jobs, j: int, free: Mapping[int, list[int]]) -> None:
        features = PlacerMemory(view._simulation.handle.state.memory).features[0]
        place = jobs[j][1]
        nodes, work = {n for n, _ in place}, float(view.jobs["estimate"][j])
        own_ms, harm = work * psi(jobs, j), 0.0
        for k in view.running.tolist():
            before, beside = psi({i: job for i, job in jobs.items() if i != j}, k), psi(jobs, k)
            done = view.jobs["done_when_rated"][k] + view.jobs["rate"][k] * (view.now_ms - view.jobs["rated"][k])
            left = max(1.0, view.jobs["estimate"][k] - done)
            harm += min(own_ms, left * before) * (beside / before - 1)
        assert features.slow_down == pytest.approx(psi(jobs, j) - 1, abs=LATENCY)
        assert features.harm == pytest.approx(harm / work, rel=1e-4, abs=LATENCY)
        assert features.servers == len(nodes) - 1
        assert features.left == (sum(len(free[n]) for n in nodes) - len(place)) / 8
        taken = [{g for n, g in place if n == node and g // 2 == s} for node in nodes for s in (0, 1)]
        kept = [{g for g in free[n] if g // 2 == s} for n in nodes for s in (0, 1)]
        broken = sum(bool(gone) and bool(had - gone) for gone, had in zip(taken, kept, strict=True))
        assert features.broken == broken / 4
        self.checked += 1
        self.scattered += len(nodes) > 1
        self.harmed += harm > 0


def held(state: object, k: int) -> Gpus:
    """The GPUs of job `k`."""
    occupants = state.occupants[:, 0]  # ty: ignore
    return [(int(x) // 4, int(x) % 4) for x in np.flatnonzero(np.asarray(occupants) == k)]


def test_lif_and_the_features_of_its_places(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    jobs = pl.DataFrame(
        {
            "submit_s": np.cumsum(draw.choice([1.0, 4.0, 9.0], 150)), "gpus": draw.choice([1, 1, 2, 3, 6], 150),
            "duration_s": draw.integers(3, 60, 150).astype(float), "model": draw.choice([*MODELS], 150),
        }
    )  # fmt: skip
    models = {name: profile(cores, traffic, theta) for name, (cores, traffic, theta) in MODELS.items()}
    restates = Restates(jobs["model"].to_list())
    simulate(
        pointsman.Workload.of(jobs), server(tmp_path, nodes=4), restates, audit=True,
        profiles=[profiles(tmp_path, models)], node_interference=f"table:kappa={KAPPA:g}",
    )  # fmt: skip
    assert restates.checked == 150
    assert min(restates.scattered, restates.harmed) > 15
