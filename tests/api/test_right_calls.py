"""Something else in the place of a workload, a cluster or a policy gets a sentence with the right call."""

from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError

JOBS = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0, 1.0], "gpus": [1, 2], "duration_s": [3.0, 4.0]}))
CLUSTER = pointsman.load_cluster("1x4")
IN_ORDER = "workload, cluster and policy are given in this order"


class Mine:
    name, needs = "mine", "none"

    def __init__(self, every: int = 3, at: str = "", among: object = None) -> None:
        self.every, self.among = every, among

    def decide(self, view: Any) -> None:
        for slot in view.heads():
            view.start(slot)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            (JOBS, "1x4", ["fifo", "srtf"]),
            "simulate runs one policy, not 2: call pointsman.compare(workload, cluster, ['fifo', 'srtf'])",
        ),
        ((JOBS, "1x4", (Mine(), "fifo")), "not 2: call pointsman.compare(workload, cluster, policies)"),
        ((JOBS, "1x4", Mine), "the policy is the class Mine: give an object of it, Mine()"),
        ((JOBS, "1x4", None), "the policy is None: give a name such as 'fifo', or an object with the method decide"),
        ((JOBS, "1x4", 7), "the policy is int 7: give a name"),
        ((CLUSTER, JOBS, "fifo"), f"the workload Cluster(1x4: 1 node, 4 GPUs (v100)) is a cluster: {IN_ORDER}"),
        (("1x4", JOBS, "fifo"), f"the workload '1x4' is a cluster: {IN_ORDER}"),
        (("philly", "jobs.csv", "fifo"), f"the workload 'philly' is a cluster: {IN_ORDER}"),
        ((JOBS, JOBS, "fifo"), "the cluster is Workload(2 jobs"),
        ((JOBS, JOBS.jobs, "fifo"), IN_ORDER),
        ((JOBS, ["1x4", "2x4"], "fifo"), "simulate takes one cluster, not 2: pointsman.sweep takes several"),
        (([JOBS], "1x4", "fifo"), "the workload is list [Workload(2 jobs"),
        ((None, "1x4", "fifo"), "the workload is None: give a file, a Workload or a DataFrame"),
    ],
)
def test_the_right_call_is_said(arguments: tuple[Any, Any, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        pointsman.simulate(*arguments)
    assert said in str(refused.value)


def test_a_file_that_is_called_like_a_cluster_is_a_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "1x4").write_text("submit_s,gpus,duration_s\n0,1,5\n")
    assert pointsman.simulate("1x4", "1x4", "fifo", overheads="none").jobs["end_s"].to_list() == [5.0]


def test_parameters_of_an_object_are_its_own_not_the_defaults_of_its_class() -> None:
    """`at` is no attribute, so its value is not known; `among` is nothing that a table can state."""
    assert pointsman.simulate(JOBS, "1x4", Mine(7, "noon", object())).info["params"] == {"every": 7}
    labels = [row.policy for row in pointsman.compare([pointsman.simulate(JOBS, "1x4", Mine(n)) for n in (7, 8)]).rows]
    assert labels == ["mine (every=7)", "mine (every=8)"]


RESULT = pointsman.simulate(JOBS, "1x4", "fifo")


@pytest.mark.parametrize(
    "given", [(RESULT,), (RESULT, RESULT), (JOBS,), ("fifo",), (["fifo", "srtf"],), ([RESULT, "fifo"],)]
)
def test_what_is_no_list_of_results_is_not_compared(given: Any) -> None:
    with pytest.raises(
        UsageError, match=r"compare takes a list of results, or .*: pointsman.compare\(workload, cluster, policies\)"
    ):
        pointsman.compare(*given)


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((JOBS, "1x4"), {}, "the policy is None: give a name such as 'fifo'"),
        ((JOBS, "1x4", []), {}, "policies: must have at least 1 item"),
        ((JOBS, "1x4", ["fifo", Mine]), {}, "the policy is the class Mine: give an object of it, Mine()"),
        ((JOBS, ["1x4", "2x4"], "fifo"), {}, "compare takes one value of cluster; pointsman.sweep takes several"),
        ((JOBS, "1x4", "fifo"), {"load": [0.5, 0.6]}, "compare takes one value of load; pointsman.sweep takes several"),
        ((JOBS, CLUSTER, "fifo"), {}, "give a name, a shorthand such as '16x8', or a file as text"),
        (("1x4", JOBS, "fifo"), {}, f"the workload '1x4' is a cluster: {IN_ORDER}"),
        (([RESULT], "1x4", "fifo"), {}, "the workload is list [Result(fifo"),
        ((JOBS, "1x4", "fifo"), {"seed": 1}, "compare has no option 'seed' (did you mean 'seeds'"),
        ((JOBS, "1x4", "fifo"), {"baseline": "srtf"}, "the baseline 'srtf' is not among the policies compared (fifo)"),
        (([RESULT],), {"seeds": 2}, "seeds is for runs to be simulated: pointsman.compare(workload, cluster, policies"),
        (([],), {}, "no run to report"),
    ],
)
def test_the_right_call_of_compare_is_said(arguments: tuple, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        pointsman.compare(*arguments, **options)
    assert said in str(refused.value)
