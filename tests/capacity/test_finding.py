"""The smallest cluster, from Python: worked by hand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.capacity import finding
from pointsman.errors import UsageError
from pointsman.types import Reason

FOUR = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0] * 4, "gpus": [1] * 4, "duration_s": [100.0] * 4}))
"""Four jobs of 100 s at once. With n nodes of one GPU the mean time pending is 150, 50, 25 and 0 s."""


def find(target: str, *policies: str, **options: Any) -> pointsman.Capacity:
    return pointsman.find_capacity(FOUR, "2x1", policies or ["fifo"], target, overheads="none", **options)


@pytest.mark.parametrize(("limit", "nodes"), [("150s", 1), ("50", 2), ("25s", 3), ("24", 4)])
def test_the_least_nodes(limit: str, nodes: int) -> None:
    found = find(f"pending_mean_s<={limit}")
    assert [curve.answer and curve.answer.nodes for curve in found.curves] == [nodes]
    assert [row["nodes"] for row in found.records() if row["is_answer"]] == [nodes]


def test_a_shell_has_a_line_and_a_notebook_a_table() -> None:
    found = find("pending_mean_s<=25", "fifo", "srtf", seeds=[0, 1])
    assert repr(found) == "Capacity(pending_mean_s<=25: fifo 3 GPUs, srtf 3 GPUs)"
    assert found.table().rows[0] == ("fifo", "3", "3", "25 s", "50 s")
    page = found._repr_html_()
    assert "<table>" in page and "with the 2 GPUs of the file" in page
    assert "fifo meets it with 3 GPUs (3 nodes), srtf meets it with 3 GPUs (3 nodes)" in page


def test_progress_halves_what_is_left_in_four_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round measures one size under each of two policies: it is half done after one of them."""
    told: list[tuple[float, str]] = []

    @contextmanager
    def note(_: str) -> Iterator[Callable[[float, str], None]]:
        yield lambda share, what: told.append((share, what))

    monkeypatch.setattr(finding, "shown", note)
    find("pending_mean_s<=25", "fifo", "srtf")
    expected = [1 - 2 ** -(k / 8) for k in range(1, len(told) + 1)]
    assert [share for share, _ in told] == pytest.approx(expected)
    assert [what for _, what in told] == [f"{nodes} nodes" for nodes in (2, 2, 4, 4, 3, 3)]


class Mine:
    name, needs = "mine", "none"

    def __init__(self, at_once: int = 99) -> None:
        self.at_once = at_once

    def decide(self, view: Any) -> None:
        for job in view.pending[: max(self.at_once - len(view.running), 0)]:
            if view.start(job) is not Reason.OK:
                break


def test_a_table_and_policy_objects() -> None:
    """A policy that runs one job at a time waits 150 s in the mean on every cluster."""
    found = pointsman.find_capacity(FOUR.jobs, "2x1", [Mine(), Mine(1), "fifo"], "pending_mean_s<=25", overheads="none")
    assert {curve.policy: curve.answer and curve.answer.nodes for curve in found.curves} == {
        "mine(at_once=99)": 3, "mine(at_once=1)": None, "fifo": 3,
    }  # fmt: skip
    with pytest.raises(UsageError, match="the workload '2x1' is a cluster"):
        pointsman.find_capacity("2x1", FOUR, "fifo")  # ty: ignore


def test_a_target_that_no_cluster_meets() -> None:
    found = find("jct_mean_s<=99")
    assert repr(found) == "Capacity(jct_mean_s<=99: fifo none)"
    assert found.table().rows[0][1:4] == ("–", "–", "–")
    assert found.curves[0].points[-1].nodes == 128, "64 times as many as the cluster has are tried"


def test_the_jobs_are_of_one_workload() -> None:
    drawn = pointsman.generate("philly", jobs=20, cluster_gpus=2, load=0.5, seed=7)

    def least(seeds: list[int]) -> int | None:
        found = pointsman.find_capacity(
            drawn, "2x8", "fifo", "pending_mean_s<=1h", workload_seeds=seeds, overheads="none"
        )
        return found.curves[0].answer and found.curves[0].answer.nodes

    assert least([1]) is not None
    with pytest.raises(UsageError, match="capacity takes one of --workload-seeds"):
        least([1, 2])


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="target takes a condition such as 'pending_p90_s<=1h', not list"):
        find(["jct_mean_s<=100"])  # ty: ignore
    with pytest.raises(UsageError, match=r"meet: no such option \(known: "):
        find("jct_mean_s<=100", meet=1)
    with pytest.raises(UsageError, match="requires that every job fits"):
        find("jct_mean_s<=100", oversized="drop")
    with pytest.raises(UsageError, match="takes one value of --load"):
        find("jct_mean_s<=100", load=[0.5, 0.9])
