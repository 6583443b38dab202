"""A job on trial: what is forecast comes true, and the state is as it was before."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.jit.compile import exported
from pointsman.engine.run.view import View
from pointsman.engine.state.state_pointer import open_state
from pointsman.policies.sdk import rate_beside_others, take_off, try_on
from pointsman.types import Reason
from tests.engine.jit.compiled import compiled
from tests.free import simulate

from ...engine.rate_models.two_sockets import profile, profiles, server

MODELS = {
    "busy": profile(cores=4, mb_per_s=500, gradient_mb=200.0),
    "mover": profile(cores=1, mb_per_s=600, gradient_mb=900.0),
    "light": profile(cores=1, mb_per_s=50),
}
SCRATCH = {
    "g": {"attempt"},
    "racks": {"tally", "tally_attempt"},
    "pods": {"tally", "tally_attempt"},
    "factors": {"found"},
}
OF_TRIAL = {"flows": {"demand", "share", "stretch", "slowdown"}}
"""Fields of a waiting job that its next start sets anew."""
FREE = {"parts", "crossings", "lists", "changed_uplinks"}
"""What stands beyond their counts, or in what of them is free, does not matter."""


@exported("float64(int64, int64, int64)")
def trial(address: int, j: int, other: int) -> float:
    """The rate of `other`, which may be `j`, with job `j` on trial where State.place says."""
    S = open_state(address)
    before = try_on(S, j)
    rate = rate_beside_others(S, other)
    take_off(S, j, before)
    return rate


class Watches:
    """Starts each waiting job on the first free GPUs, scattered, after a trial there."""

    name, needs = "watches", "none"

    def __init__(self) -> None:
        self.forecast: dict[int, float] = {}
        self.checked = self.slowed = 0

    def decide(self, view: View) -> None:
        self._compare(view)
        for j in view.pending.tolist()[:1]:
            asked = int(view.jobs["asked"][j])
            free = [(n, g) for g in range(4) for n in range(len(view.free_by_node)) if g in view.free_on(n)]
            if len(free) >= asked:
                self._try(view, j, free[:asked])
                assert view.start(j, free[:asked]) == Reason.OK
                view.wake_at(view.now_s + 0.001)

    def _compare(self, view: View) -> None:
        """All jobs run as was forecast when the last one was on trial."""
        for j in view.running.tolist():
            if j in self.forecast:
                assert view.jobs["rate"][j] == self.forecast[j]
                self.checked += 1
                self.slowed += self.forecast[j] < 1
        self.forecast = {}

    def _try(self, view: View, j: int, gpus: list[tuple[int, int]]) -> None:
        handle = view._simulation.handle
        state = handle.state
        for i, n in enumerate(sorted({n for n, _ in gpus})):
            mask = sum(1 << g for at, g in gpus if at == n)
            state.place[i] = (n, mask, mask.bit_count(), 0)
        state.g["placed"] = len({n for n, _ in gpus})
        before = {name: array.copy() for name, array in state._asdict().items()}
        for other in (j, *view.running.tolist()):
            rate = compiled(trial)
            self.forecast[other] = rate(handle.address, np.int64(j), np.int64(other))
        compare(before, state._asdict(), j)


def compare(before: dict[str, Any], after: dict[str, Any], j: int) -> None:
    """That the state is the same, but for scratch."""
    for name, array in after.items():
        if name in FREE:
            continue
        for field in array.dtype.names or (None,):
            if field in SCRATCH.get(name, ()):
                continue
            was, now = (a if field is None else a[field] for a in (before[name], array))
            if field in OF_TRIAL.get(name, ()) and j < len(now):
                was, now = np.delete(was, j), np.delete(now, j)
            assert np.array_equal(was, now, equal_nan=now.dtype.kind == "f"), (name, field)


@pytest.mark.parametrize("contention", ["none", "level", "node-link"])
def test_what_is_forecast_comes_true_and_leaves_no_trace(tmp_path: Path, contention: str) -> None:
    """Under these contentions the worst uplink of a ring is all that holds it back."""
    draw = np.random.default_rng(5)
    jobs = pl.DataFrame(
        {
            "submit_s": np.arange(40.0) * 7, "gpus": draw.choice([1, 2, 3, 5], 40),
            "duration_s": draw.uniform(5, 90, 40), "model": draw.choice([*MODELS], 40),
        }
    )  # fmt: skip
    watches = Watches()
    simulate(
        pointsman.Workload.of(jobs), server(tmp_path, nodes=4, nic={"bandwidth": "10 Gb/s"}), watches, audit=True,
        profiles=[profiles(tmp_path, MODELS)], node_interference="table", contention=contention,
    )  # fmt: skip
    assert watches.checked > 60
    assert watches.slowed > 30
