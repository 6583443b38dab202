"""What jobs are measured on and compared to: their times alone, what rows say of them, and what is checked before."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.measure import node
from pointsman.measure.bench import Alone, Bench, check_speed
from pointsman.measure.machine import Machine
from pointsman.measure.messages import Setting
from pointsman.measure.names import Batches, Model
from pointsman.measure.pool import Place, Pool
from pointsman.measure.process import JobFailed, Slot
from pointsman.measure.rounds import Limits, Measured

OWN = Path(__file__).with_name("own_jobs.py")
CPU = Slot("cpu")


@pytest.fixture
def bench() -> Iterator[Bench]:
    """On all cores, where other work is not counted."""
    with Pool(deadline_s=120.0) as pool:
        yield Bench(pool, Machine("cpu", "a processor", "Linux", "", "cpu", ""), Limits(3, 0.02, 0.5, 3), "fp32")


def test_a_time_alone_whose_rounds_do_not_agree_is_measured_once_more(bench: Bench) -> None:
    alone, place = Alone(bench), (bench.setting(f"{OWN}:settles", 1), CPU)
    assert alone.runs([place, place]) == 1
    found = alone.of(place)
    assert found.spread <= 0.5
    assert found.step_s[0] < 0.02
    assert alone.of(place) is found
    assert alone.runs([place]) == 0


def test_a_row_is_as_unsteady_as_what_it_is_compared_to(bench: Bench) -> None:
    calm, restless = Measured((1.0,), (1,), 3, 0, 0.01), Measured((1.0,), (1,), 9, 8, 0.3)
    assert [bench.cells(calm, CPU, alone)["spread"] for alone in ([], [calm], [calm, restless])] == [0.01, 0.01, 0.3]


class Scripted(Bench):
    """Measures what it is told to."""

    def run(self, places: Sequence[Place]) -> Measured:
        step_s = self.script.pop(0)
        assert len(step_s) == len(places)
        return Measured(step_s, (1,) * len(step_s), 3, 0, 0.01)

    script: list[tuple[float, ...]]


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ([(0.1,), (0.1,), (0.2, 0.1)], [(0.1, 0.2), (0.1, 0.1)]),
        ([(0.4,), (0.1,), (0.2, 0.1), (0.2,)], [(0.2, 0.2), (0.1, 0.1)]),  # the first was disturbed alone
        ([(0.4,), (0.4,), (0.2, 0.1), (0.2,), (0.1,)], [(0.2, 0.2), (0.1, 0.1)]),
    ],
)
def test_jobs_of_a_node_that_were_slower_alone_are_measured_alone_again(
    script: list[tuple[float, ...]], rows: list[tuple[float, float]]
) -> None:
    with Pool(deadline_s=1.0) as pool:
        bench = Scripted(pool, Machine("cpu", "", "", "", "cpu", ""), Limits(), "fp32")
        bench.script = script
        models = [Model("a", "a", 1)]
        *_, pair = node.items(bench, [Slot("cpu", (0,)), Slot("cpu", (1,))], models, Batches([], models))
        found = pair.measure()
    assert [(row["alone_s"], row["step_s"]) for row in found] == rows
    assert script == []


def test_a_job_that_was_much_faster_beside_another_was_disturbed() -> None:
    check_speed(1.5, 1.0, 0)
    with pytest.raises(JobFailed, match=r"disturbed: job b took 1\.6 s a step alone, and 1 s beside the others"):
        check_speed(1.6, 1.0, 1)


def test_functions_of_the_user_are_checked_once_each_in_most_parts(bench: Bench) -> None:
    bench.check([Setting("vgg16", 32)], CPU)  # is not built
    bench.check([Setting(f"{OWN}:only_small", batch) for batch in (2, 1)], CPU)
    bench.check([Setting(f"{OWN}:lacks_memory_at_once", 1), Setting(f"{OWN}:quick", 4, 2)], CPU)  # memory: a row
    with pytest.raises(UsageError, match="dozes has no parameter 'parts'"):
        bench.check([Setting(f"{OWN}:dozes", 4), Setting(f"{OWN}:dozes", 4, 2)], CPU)


def test_what_was_checked_is_warmed_up_like_any_other(bench: Bench) -> None:
    setting = bench.setting(f"{OWN}:only_small", 1)
    bench.check([setting], CPU)
    (job,) = bench.pool._jobs
    assert job.setting is None
    assert bench.pool.take([(setting, CPU)]) == [job]
