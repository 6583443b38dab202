"""GPUs that jobs share: co-runners, memory, accumulation, changes of running jobs and fractions, worked by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.engine.run.view import View
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import UsageError
from pointsman.report.result import Result
from pointsman.speed.profiles.catalogue import load_catalogue
from pointsman.types import Reason
from tests.free import simulate

CATALOGUE = load_catalogue()
EXAMPLE = Path(__file__).parents[3] / "examples" / "my_sharing_policy.py"
ONE_GPU, TWO_GPUS = "1x1/gpu=v100", "1x2/gpu=v100"
Gpus = list[tuple[int, int]]


class Told:
    """Starts each job, by its row, on the GPUs told as soon as it may; then does what else is told, at its time."""

    name, needs = "told", "none"

    def __init__(
        self,
        places: list[Gpus],
        accumulation: dict[int, int] | None = None,
        later: dict[int, Callable[[View, dict[int, int]], Reason]] | None = None,
    ) -> None:
        self.places, self.accumulation, self.later = places, accumulation or {}, later or {}
        self.answers: list[Reason] = []
        self.slots: dict[int, int] = {}

    def decide(self, view: View) -> None:
        for job in view.pending.tolist():
            row = int(view.jobs["row"][job])
            self.slots[row] = job
            self.answers.append(view.start(job, self.places[row], self.accumulation.get(row, 1)))
        for at_s, do in list(self.later.items()):
            view.wake_at(at_s)
            if view.now_s >= at_s:
                del self.later[at_s]
                self.answers.append(do(view, self.slots))


def run(jobs: list[dict[str, Any]], cluster: str, policy: Any, **options: Any) -> tuple[list[float], Result]:
    """Ends of the jobs, in seconds, in the order of their submission; every invariant audited."""
    rows = [{"submit_s": 0.0, "gpus": 1, "model": "resnet18"} | job for job in jobs]
    result = simulate(
        pointsman.Workload.of(pl.DataFrame(rows)), cluster, policy, **({"gpu_sharing": 2, "audit": True} | options)
    )
    return result.jobs.sort("row")["end_s"].to_list(), result


def test_two_jobs_on_a_gpu() -> None:
    """Each takes 1.5 times as long beside the other::

        GPU  │ A ........................ │
             │         B ....... │
             0       100        190       330

    A does 100 s alone; B needs 60 s, so 90 s beside A, which does 60 s of its own in them; then A's last 140 s.
    """
    jobs = [{"duration_s": 300.0}, {"duration_s": 60.0, "submit_s": 100.0}]
    ends, result = run(jobs, ONE_GPU, Told([[(0, 0)], [(0, 0)]]), interference="1.5")
    assert ends == [330.0, 190.0]
    assert result.jobs.sort("row")["run_s"].to_list() == [330.0, 90.0]


def test_three_jobs_on_a_gpu_slow_each_other_by_the_product() -> None:
    """ξ = 2 for each other job beside: 2 for two, 4 for three::

        GPU  │ A .............................│    10 s of work
             │ B .............................│    10
             │ C ........ │                        4
             0            16                 28

    In the 16 s that C takes for its 4, A and B do 4 as well; their last 6 take 12 s.
    """
    jobs = [{"duration_s": 10.0}, {"duration_s": 10.0}, {"duration_s": 4.0}]
    ends, _ = run(jobs, ONE_GPU, Told([[(0, 0)]] * 3), interference="2", gpu_sharing=3)
    assert ends == [28.0, 28.0, 16.0]


def test_a_gang_feels_its_slowest_gpu() -> None:
    """A on both GPUs, B beside it on the first and C on the second; only while either runs is A slow::

    GPU 0 │ A .............................. │
          │ B ....... │
    GPU 1 │ A .............................. │
          │ C ................ │
          0          30       60            100
    """
    jobs = [{"duration_s": 70.0, "gpus": 2}, {"duration_s": 15.0}, {"duration_s": 30.0}]
    places: list[Gpus] = [[(0, 0), (0, 1)], [(0, 0)], [(0, 1)]]
    ends, _ = run(jobs, TWO_GPUS, Told(places), interference="2")
    assert ends == [100.0, 30.0, 60.0]


def test_who_is_starting_slows_nobody_but_takes_memory() -> None:
    """B takes 10 s to start: A is slowed from 10 s on, and B's 20 s take 40."""
    jobs = [{"duration_s": 100.0}, {"duration_s": 20.0}, {"duration_s": 1.0, "submit_s": 5.0}]
    told = Told([[(0, 0)]] * 2 + [[(0, 0)]])
    ends, result = run(jobs[:2], ONE_GPU, told, interference="2", overheads=Overheads(start_s=10.0))
    assert ends == [130.0, 50.0]  # A runs from 10 s on, as B does: 20 s of each in 40 s, then A's 80
    assert result.jobs["wait_s"].to_list() == [0.0, 0.0]


def test_more_jobs_than_the_limit_are_refused() -> None:
    told = Told([[(0, 0)]] * 3)
    run([{"duration_s": 10.0}] * 3, ONE_GPU, told, interference="1")
    assert told.answers[:3] == [Reason.OK, Reason.OK, Reason.SharingLimit]


def test_memory_is_a_hard_limit_and_accumulation_makes_room() -> None:
    """As many samples of ResNet-50 as fill half a V100 and a bit more: two fit only with accumulation."""
    profile = CATALOGUE.model("resnet50").memory
    batch = int((0.55 * 32 * 2**30 - profile.fixed_bytes) / profile.bytes_per_sample)
    jobs = [{"duration_s": 100.0, "model": "resnet50", "batch_size": batch}] * 2
    refused = Told([[(0, 0)]] * 2)
    run(jobs, ONE_GPU, refused, interference="1")
    assert refused.answers[:2] == [Reason.OK, Reason.Memory]
    admitted = Told([[(0, 0)]] * 2, accumulation={1: 2})
    ends, result = run(jobs, ONE_GPU, admitted, interference="1")
    assert admitted.answers == [Reason.OK, Reason.OK]
    compute, _ = CATALOGUE.compute("resnet50", "v100")
    longer = 2 * compute.time_s(batch / 2) / compute.time_s(batch)
    assert 1 < longer < 2
    assert ends[0] == 100.0
    assert ends[1] == pytest.approx(100.0 * longer, abs=0.002)
    log = result.events.filter(pl.col("kind") == "START")
    assert log["arg"].to_list() == [1, 2]


@pytest.mark.parametrize("accumulation", [0, 3, -2, 1 << 11, 1 << 40])
def test_only_powers_of_two_up_to_the_samples_are_accumulated(accumulation: int) -> None:
    told = Told([[(0, 0)]], accumulation={0: accumulation})
    jobs = [{"duration_s": 10.0, "batch_size": 64}]
    run(jobs, ONE_GPU, told, until_s=1.0)
    assert told.answers == [Reason.NotSupported]


def test_rebatch_changes_time_and_memory_and_costs_its_pause() -> None:
    profile = CATALOGUE.model("resnet50").memory
    batch = int((0.55 * 32 * 2**30 - profile.fixed_bytes) / profile.bytes_per_sample)
    compute, _ = CATALOGUE.compute("resnet50", "v100")
    longer = 2 * compute.time_s(batch / 2) / compute.time_s(batch)
    told = Told([[(0, 0)]], later={50: lambda view, slots: view.rebatch(slots[0], 2)})
    jobs = [{"duration_s": 100.0, "model": "resnet50", "batch_size": batch}]
    ends, result = run(jobs, ONE_GPU, told, overheads=Overheads(rebatch_s=7.0))
    assert told.answers == [Reason.OK, Reason.OK]
    assert ends[0] == pytest.approx(50 + 7 + 50 * longer, abs=0.002)
    assert result.jobs["preemptions"].to_list() == [0]
    assert [k for k in result.events["kind"].to_list() if k in ("REBATCH", "RESIZED")] == ["REBATCH", "RESIZED"]


def test_rebatch_to_more_memory_than_there_is_is_refused() -> None:
    profile = CATALOGUE.model("resnet50").memory
    batch = int((0.55 * 32 * 2**30 - profile.fixed_bytes) / profile.bytes_per_sample)
    jobs = [{"duration_s": 100.0, "model": "resnet50", "batch_size": batch}] * 2
    told = Told([[(0, 0)]] * 2, accumulation={1: 2}, later={10: lambda view, slots: view.rebatch(slots[1], 1)})
    run(jobs, ONE_GPU, told, interference="1")
    assert told.answers == [Reason.OK, Reason.OK, Reason.Memory]


def test_resize_moves_a_gang_and_keeps_its_work() -> None:
    """From GPU 0, which it shares at ξ = 2, to GPU 1, of its own: 10 s of work in 20 s, and the rest in 90 s."""
    jobs = [{"duration_s": 100.0}, {"duration_s": 100.0}]
    told = Told([[(0, 0)], [(0, 0)]], later={20: lambda view, slots: view.resize(slots[0], [(0, 1)])})
    ends, result = run(jobs, TWO_GPUS, told, interference="2", overheads=Overheads(stop_s=1.0, start_s=0.0))
    assert told.answers == [Reason.OK] * 3
    assert ends == [111.0, 110.0]
    assert result.jobs["preemptions"].to_list() == [0, 0]


def test_rigid_gangs_cannot_have_another_number_of_gpus() -> None:
    told = Told([[(0, 0)]], later={1: lambda view, slots: view.resize(slots[0], [(0, 0), (0, 1)])})
    run([{"duration_s": 10.0}], TWO_GPUS, told)
    assert told.answers == [Reason.OK, Reason.GangIncomplete]


def test_the_example_of_a_sharing_policy_shares() -> None:
    """Three jobs on two GPUs, ξ = 1.6: a and b are beside each other, c has the second GPU."""
    ends, result = run([{"duration_s": 16.0}] * 3, TWO_GPUS, f"{EXAMPLE}:Pairs", interference="1.6")
    assert ends == [25.6, 25.6, 16.0]
    assert result.info["gpu_sharing"] == 2


def test_jobs_without_a_model_fill_their_gpus() -> None:
    told = Told([[(0, 0)]] * 2)
    run([{"duration_s": 10.0, "model": None}, {"duration_s": 10.0}], ONE_GPU, told)
    assert told.answers[:2] == [Reason.OK, Reason.Memory]


@pytest.mark.parametrize("policy", ["fifo", "fifo-backfill", "sjf", "sjf-bsbf"])
def test_fractions_share_a_gpu_best_fit(policy: str) -> None:
    """The fullest GPU with room, then a free one; what fits nowhere waits, and then prefers the GPU still divided::

    GPU 0 │ 0.5 ............... │
          │ 0.3 ............... │
    GPU 1 │ 0.6 ............... │ 0.3 ... │
          │  0.4 ............... │
          0  1                  20 21    25
    """
    jobs = [
        {"duration_s": 20.0, "fraction": 0.5, "model": None},
        {"duration_s": 20.0, "fraction": 0.3, "model": None},
        {"duration_s": 20.0, "fraction": 0.6, "model": None},
        {"duration_s": 20.0, "fraction": 0.4, "model": None, "submit_s": 1.0},
        {"duration_s": 5.0, "fraction": 0.3, "model": None, "submit_s": 2.0},
    ]
    ends, result = run(jobs, TWO_GPUS, policy)
    masks = result.events.filter(pl.col("kind") == "START").sort("row")["gpu_mask"].to_list()
    assert masks == [1, 1, 2, 2, 2]
    assert ends[:4] == [20.0, 20.0, 20.0, 21.0]
    assert ends[4] == 25.0


@pytest.mark.parametrize(("fraction", "last_end_s"), [(0.5004, 10.0), (0.5006, 20.0)])
def test_fractions_are_rounded_to_thousandths(fraction: float, last_end_s: float) -> None:
    """Two of 0.500 fit on a GPU, two of 0.501 do not."""
    ends, _ = run([{"duration_s": 10.0, "fraction": fraction, "model": None}] * 2, ONE_GPU, "fifo")
    assert ends == [10.0, last_end_s]


def test_without_sharing_a_fraction_takes_the_whole_gpu() -> None:
    jobs = [{"duration_s": 10.0, "fraction": 0.5, "model": None}] * 2
    ends, result = run(jobs, ONE_GPU, "fifo", gpu_sharing=None)
    assert ends == [10.0, 20.0]
    assert any("part of a GPU" in note for note in result.info["quality"]["notes"])


@pytest.mark.parametrize("policy", ["easy", "srtf", "tiresias", "dally", "lwf"])
def test_policies_that_take_gpus_away_do_not_share_them(policy: str) -> None:
    with pytest.raises(UsageError, match="uses whole GPUs"):
        run([{"duration_s": 1.0}], ONE_GPU, policy)


@pytest.mark.parametrize(
    ("limit", "said"), [(0, "greater than or equal to 1, not 0"), (9, "less than or equal to 8, not 9")]
)
def test_absurd_limits_are_refused(limit: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run([{"duration_s": 1.0}], ONE_GPU, "fifo", gpu_sharing=limit)
