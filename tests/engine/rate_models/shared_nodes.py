"""A toy factor, all of it in this file: computing takes a number of times as long on nodes with several jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.rate_models.factors.sdk import BaseModel, Factor, Int, Layout, Speeds, State, core, mark, option

KEY, TITLE = "shared_nodes", "Shared nodes"


@dataclass(frozen=True)
class SharedNodes(Factor):
    times: float

    name = "shared-nodes"
    hooks = __file__
    section = "tests.engine.rate_models.shared_nodes"
    options: ClassVar[Mapping[str, Any]] = {
        "shared_node_slowdown": (
            float | None,
            option("Slowdown of jobs that share a node, from 1.", None, unset="none", metavar="TIMES", le=100),
        )
    }

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> Self | None:
        times = options.get("shared_node_slowdown")
        return None if times is None else cls(times)

    def numbers(self, layout: Layout, speeds: Speeds) -> NDArray[np.float64]:
        return np.array([self.times])

    def loads(self, layout: Layout) -> int:
        return len(layout.node_gpus)


@core
def _add(S: State, f: Int, j: Int, more: Int) -> None:
    """So many more jobs run on the nodes of job `j`; all that are there may get another speed."""
    i = S.jobs[j].part
    while i >= 0:
        n = S.parts[i].node
        S.factor_loads[S.factors[f].loads + n] += more
        for x in range(S.nodes[n].gpu0, S.nodes[n].gpu0 + S.nodes[n].gpus):
            for o in range(S.occupants.shape[1]):
                if S.occupants[x, o] >= 0:
                    mark(S, S.occupants[x, o])
        i = S.parts[i].next


@core
def slowed(S: State, f: Int, j: Int) -> float:
    i = S.jobs[j].part
    while i >= 0:
        if S.factor_loads[S.factors[f].loads + S.parts[i].node] > 1:
            return S.factor_numbers[S.factors[f].numbers]
        i = S.parts[i].next
    return 1.0


@core
def begin(S: State, f: Int, j: Int) -> None:
    _add(S, f, j, np.int64(1))


@core
def cease(S: State, f: Int, j: Int) -> None:
    _add(S, f, j, np.int64(-1))


def described(info: Mapping[str, Any]) -> str:
    times = info.get("shared_node_slowdown")
    return "none" if times is None else f"computing takes {times:g} times as long on shared nodes"


def metrics(run: Any) -> dict[str, float] | None:
    if run.result.info.get("shared_node_slowdown") is None:
        return None
    return {"slowed_mean_s": float(run.counted["slowed_s"].mean())}


def lines(metrics: dict[str, float] | None) -> list[tuple[str, str]]:
    return [] if metrics is None else [("slowed by shared nodes, mean", f"{metrics['slowed_mean_s']:g} s")]
