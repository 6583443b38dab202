"""`pick-place`: who is next, by hand and against a policy that looks at every waiting job."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.run.view import View
from pointsman.errors import UsageError
from tests.free import simulate


def table(*jobs: tuple[float, int, float], **columns: list[Any]) -> pointsman.Workload:
    """Jobs of (submit_s, GPUs, duration_s)."""
    frame = pl.DataFrame(jobs, schema=["submit_s", "gpus", "duration_s"], orient="row")
    return pointsman.Workload.of(frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()}))


def starts(work: pointsman.Workload, policy: str = "pick-place", cluster: str = "1x4", **params: Any) -> list[float]:
    return simulate(work, cluster, policy, params=params, audit=True).jobs["start_s"].to_list()


BUSY = ((0.0, 4, 10.0), (1.0, 1, 3.0), (2.0, 3, 4.0), (3.0, 2, 2.0), (4.0, 4, 1.0), (5.0, 1, 5.0))
"""One job on the whole node; then those of 1, 3, 2, 4 and 1 GPUs."""


@pytest.mark.parametrize(
    "policy, params, expected",
    [
        #     10: 1 and 3; 14: 2, and 4 blocks till 16; then 1
        ("pick-place", {"picker": "fcfs"}, [0, 10, 10, 14, 16, 17]),
        #     10: 1 and 3; 13: 1 beside the 3; 14: 2; 18: 4
        ("pick-place", {"picker": "fcfs", "strict": "never"}, [0, 10, 10, 14, 18, 13]),
        #     10: 4; 11: 3 and 1; 14: 1, for 2 does not fit till 15
        ("pick-place", {"picker": "tetris"}, [0, 11, 11, 15, 10, 14]),
        #     10: 1, 1 and 2; 13: 3; 17: 4
        ("pick-place", {"picker": "drf"}, [0, 10, 13, 10, 17, 10]),
        #     10: the 4; 11: 2 and 1, and the longest, of 1, for 3 does not fit till 14
        ("pick-place-sjf", {}, [0, 11, 14, 11, 10, 11]),
        #     11: 2 and 1, and 3 blocks till 13; 14: 1
        ("pick-place-sjf", {"strict": "always"}, [0, 11, 13, 11, 10, 14]),
    ],
)
def test_who_is_next(policy: str, params: dict[str, Any], expected: list[float]) -> None:
    assert starts(table(*BUSY), policy, **params) == expected


def test_higher_priorities_go_first_whatever_the_picker() -> None:
    work = table((0.0, 4, 10.0), (1.0, 4, 5.0), (2.0, 1, 5.0), priority=[0, 0, 1])
    for picker in ("fcfs", "tetris", "random"):
        assert starts(work, picker=picker) == [0, 15, 10]


def test_any_job_that_waits_is_as_likely_to_be_next_however_long_it_has_waited() -> None:
    """One GPU; ten jobs of two classes wait, and one more comes for each that starts."""
    n = 3000
    jobs = [(0.0, 1, 1.0)] * 10 + [(float(t), 1, 1.0) for t in range(1, n)]
    work = table(*jobs, gpu_type=["v100" if i % 3 else None for i in range(len(jobs))])
    found = starts(work, cluster="1x1/gpu=v100", picker="random")
    waiting, ranks = list(range(10)), Counter()
    for turn, row in enumerate(np.argsort(found)[: n - 1].tolist()):
        ranks[waiting.index(row)] += 1
        waiting = [other for other in waiting if other != row] + [10 + turn]
    assert all(abs(ranks[k] - n / 10) < 5 * np.sqrt(n / 10) for k in range(10)), ranks


def test_a_queue_at_its_limit_is_passed_over(tmp_path: Path) -> None:
    cluster = tmp_path / "small.yaml"
    cluster.write_text(
        "apiVersion: pointsman/v1\nkind: Cluster\nmetadata: {name: small}\nspec:\n"
        "  node_types: {n: {gpus: 4, gpu_type: v100}}\n  nodes: [{type: n, count: 1}]\n"
        "  queues: {a: {gpu_limit: 2}}\n"
    )
    work = table((0.0, 2, 10.0), (0.0, 1, 10.0), (0.0, 2, 10.0), queue=["a", "a", "b"])
    for picker in ("fcfs", "tetris", "drf", "random"):
        found = starts(work, cluster=str(cluster), picker=picker)
        assert sorted(found) == [0, 0, 10] and found[2] == 0


def test_the_shortest_first_is_a_policy_of_its_own_for_it_must_be_told_of_durations() -> None:
    with pytest.raises(UsageError, match="pick-place-sjf"):
        starts(table(*BUSY), picker="sjf")
    with pytest.raises(UsageError, match="requires durations"):
        simulate(table(*BUSY), "1x4", "pick-place-sjf", estimate="none")


class Obvious:
    """The same, looking at every waiting job and every free GPU."""

    name, needs = "obvious", "oracle"

    def __init__(self, picker: str, strict: bool) -> None:
        self.picker, self.strict = picker, strict

    def _rank(self, view: View, job: int) -> tuple[float, int]:
        jobs = view.jobs
        key = {
            "fcfs": 0.0,
            "sjf": float(jobs["estimate"][job]),
            "tetris": -float(jobs["asked"][job]),
            "drf": float(jobs["asked"][job]),
        }
        return key[self.picker], int(jobs["row"][job])

    def decide(self, view: View) -> None:
        for job in sorted(view.pending.tolist(), key=lambda job: self._rank(view, job)):
            asked = int(view.jobs["asked"][job])
            free = [(n, g) for n in range(len(view.free_by_node)) for g in view.free_on(n)]
            if len(free) >= asked:
                assert view.start(job, free[:asked]).name == "OK"
            elif self.strict:
                return


@pytest.mark.parametrize("picker", ["fcfs", "sjf", "tetris", "drf"])
@pytest.mark.parametrize("strict", [True, False])
def test_looking_at_the_first_of_each_class_is_enough(picker: str, strict: bool) -> None:
    draw = np.random.default_rng(8)
    n = 400
    jobs = zip(
        np.sort(draw.integers(0, 3000, n)).astype(float), draw.integers(1, 9, n), draw.integers(1, 90, n), strict=True
    )
    work = table(*((float(s), int(g), float(d)) for s, g, d in jobs))
    name, params = ("pick-place-sjf", {}) if picker == "sjf" else ("pick-place", {"picker": picker})
    params |= {"gpus": "first-available", "strict": "always" if strict else "never"}
    ours = simulate(work, "topdrl", name, params=params, rate_model="tree", audit=True)
    theirs = simulate(work, "topdrl", Obvious(picker, strict), rate_model="tree")
    columns = ["start_s", "end_s", "nodes"]
    assert ours.jobs.select(columns).equals(theirs.jobs.select(columns))
