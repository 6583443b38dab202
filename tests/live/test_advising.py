"""What is advised can be taken back, in whatever order things fail; what others set is theirs."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from pointsman.errors import BackendError
from pointsman.live.backends.facts import Refused, Unsure
from pointsman.live.observe.advising import LATELY_MS, Advice, Adviser, Scope, hand_back
from pointsman.live.observe.sight import Present, SeenJob
from pointsman.live.records.store import Store

TOP = 1_000_000


class Slurm:
    """Jobs by what they are called, and their nice values; changes may fail before or after they are made."""

    def __init__(self, nices: dict[str, int]) -> None:
        self.nices, self.own, self.fails, self.changes = dict(nices), dict(nices), Random(0), 0
        self.share = 0.0
        self.deaf = ""
        """A job that takes none."""
        self.ends: set[str] = set()
        """Jobs that end, one of which will not wait again."""
        self.ended = ""

    def present(self) -> list[Present]:
        return [Present(unit, unit, nice, unit in self.ends) for unit, nice in self.nices.items()]

    def keep_held(self) -> None:
        """None is."""

    def set_nice(self, target: str, nice: int) -> None:
        fails = self.fails.random() < self.share
        if fails and self.fails.random() < 0.5:
            raise Unsure("no answer")
        if target not in self.nices or target == self.ended:
            raise Refused("it has ended")
        if target != self.deaf:
            self.nices[target] = nice
        self.changes += 1
        if fails:
            raise Unsure("no answer")

    def waiting(self, order: list[str]) -> list[SeenJob]:
        place = {unit: number for number, unit in enumerate(sorted(self.nices))}
        return [
            SeenJob(
                unit,
                unit,
                0,
                priority=TOP - place[unit] - self.nices[unit],
                nice=self.nices[unit],
                unit=unit,
                target=unit,
            )
            for unit in order
            if unit in self.nices
        ]

    def stands(self) -> list[str]:
        return [job.unit for job in sorted(self.waiting([*self.nices]), key=lambda job: -job.priority)]


class Advised:
    """A daemon's part in it."""

    def __init__(self, folder: Path, slurm: Slurm, most: int = 1_000) -> None:
        self.slurm, self.now_ms, self.scope = slurm, 0, Scope(most_a_minute=most)
        self.path = folder / "store"
        self.begin()

    def begin(self) -> None:
        self.store = Store(self.path)
        self.adviser = Adviser(self.store, self.scope)

    def die(self) -> None:
        self.store.close()
        self.begin()

    def plan(self, order: list[str]) -> list[Advice]:
        self.now_ms += 30_000
        with self.store.turn():
            return self.adviser.plan(self.slurm.waiting(order), self.slurm.nices, "fifo", self.now_ms)

    def advise(self, order: list[str]) -> None:
        for advice in self.plan(order):
            with suppress(Unsure, Refused):
                self.slurm.set_nice(advice.target, advice.nice)
                self.adviser.note_done([advice], self.now_ms)

    def hand_back(self) -> None:
        asyncio.run(hand_back(self.store, self.slurm, self.now_ms))

    def rows(self) -> list[str]:
        return [row["unit"] for row in self.store.connection.execute("SELECT unit FROM advised")]


@pytest.fixture
def advised(tmp_path: Path) -> Iterator[Advised]:
    one = Advised(tmp_path, Slurm({"1": 0, "2": 5, "3": 0, "4": -2, "5": 100}))
    yield one
    one.store.close()


@pytest.mark.parametrize("seed", range(20))
def test_all_is_taken_back_however_it_failed(seed: int, advised: Advised) -> None:
    chance, slurm = Random(seed), advised.slurm
    slurm.fails, slurm.share = Random(seed), 0.5
    for _ in range(12):
        order = [*slurm.nices]
        chance.shuffle(order)
        planned = advised.plan(order)
        for advice in planned:
            if chance.random() < 0.2:
                advised.die()  # between what is kept and what is done
                break
            with suppress(Unsure, Refused):
                slurm.set_nice(advice.target, advice.nice)
    slurm.share = 0.0
    advised.hand_back()
    assert slurm.nices == slurm.own
    assert advised.rows() == []


def test_the_order_is_reached_and_then_left_alone(advised: Advised) -> None:
    order = ["5", "4", "3", "2", "1"]
    advised.slurm.share = 0.5
    for _ in range(20):
        advised.advise(order)
    assert advised.slurm.stands() == order
    assert advised.plan(order) == []


def test_what_a_user_sets_meanwhile_is_the_users(advised: Advised) -> None:
    order, slurm = ["5", "4", "3", "2", "1"], advised.slurm
    advised.advise(order)
    advised.plan(order)
    slurm.nices["1"], slurm.nices["3"] = 77, slurm.own["3"]
    for _ in range(3):
        advised.advise(order)
    assert (slurm.nices["1"], slurm.nices["3"]) == (77, slurm.own["3"])
    advised.hand_back()
    assert slurm.nices == slurm.own | {"1": 77}


def test_what_cannot_start_for_a_while_or_runs_gets_its_own_back(advised: Advised) -> None:
    """It is held, or runs and may be requeued."""
    advised.advise(["5", "4", "3", "2", "1"])
    advised.advise(["2", "1"])
    advised.advise([])
    advised.hand_back()
    assert advised.slurm.nices == advised.slurm.own


def test_what_has_ended_is_forgotten(advised: Advised) -> None:
    advised.advise(["5", "4", "3", "2", "1"])
    del advised.slurm.nices["1"]
    advised.advise(["5", "4", "3", "2"])
    assert "1" in advised.rows(), "a controller that is killed may forget that"
    advised.now_ms += LATELY_MS
    advised.advise(["5", "4", "3", "2"])
    assert "1" not in advised.rows() != []


def test_tasks_of_an_array_get_their_own_back_each(tmp_path: Path) -> None:
    """They were changed together, and have begun or were held since."""
    advised = Advised(tmp_path, Slurm({"1": 0, "2": 3}))
    advised.advise(["2", "1"])
    assert advised.slurm.nices["2"] != 3
    advised.slurm.nices |= {"2_1": advised.slurm.nices["2"], "2_2": advised.slurm.nices["2"], "2_3": 40}
    advised.advise(["2_2", "2_3", "2", "1"])
    advised.hand_back()
    assert advised.slurm.nices == {"1": 0, "2": 3, "2_1": 3, "2_2": 3, "2_3": 40}
    advised.store.close()


def test_a_budget_is_one_of_all_daemons(tmp_path: Path) -> None:
    advised = Advised(tmp_path, Slurm({str(number): 10 * number for number in range(1, 10)}), most=2)
    order = sorted(advised.slurm.nices, reverse=True)
    changed = []
    for _ in range(6):
        changed.append(len(advised.plan(order)))
        advised.die()
    assert changed == [2, 0, 2, 0, 2, 0]
    advised.store.close()


def test_held_jobs_are_left_alone(advised: Advised) -> None:
    jobs = [SeenJob(unit, unit, 0, priority=priority, unit=unit) for unit, priority in (("1", 0), ("2", 5), ("3", 9))]
    with advised.store.turn():
        planned = advised.adviser.plan(jobs, {"1", "2", "3"}, "fifo", 1)
    assert {advice.unit for advice in planned} == {"2", "3"}


def test_what_cannot_be_taken_back_is_said_and_stays_known(advised: Advised) -> None:
    advised.advise(["5", "4", "3", "2", "1"])
    advised.slurm.share, advised.slurm.fails = 1.0, Random(2)
    real, advised.slurm.set_nice = advised.slurm.set_nice, lambda *_: (_ for _ in ()).throw(Unsure("no answer"))
    with pytest.raises(BackendError, match=r"jobs do not have their own nice values: .*no answer.*try again"):
        advised.hand_back()
    assert advised.rows() != []
    advised.slurm.set_nice, advised.slurm.share = real, 0.0
    advised.hand_back()
    assert advised.slurm.nices == advised.slurm.own


def test_what_a_killed_controller_forgets_is_taken_back(advised: Advised) -> None:
    """Slurm has values again that were set earlier, and had others in between."""
    slurm, states = advised.slurm, []
    for order in (["5", "4", "3", "2", "1"], ["3", "1", "5", "4", "2"], ["2", "5", "1", "3", "4"]):
        advised.advise(order)
        states.append(dict(slurm.nices))
        advised.plan(order)
    slurm.nices = states[0]
    advised.advise(["4", "1", "2", "5", "3"])
    advised.hand_back()
    assert slurm.nices == slurm.own


def test_a_job_that_takes_no_nice_value_is_left_alone(advised: Advised) -> None:
    """Slurm ignores those of a job whose priority an administrator has set."""
    order, advised.slurm.deaf = ["5", "4", "3", "2", "1"], "5"
    for _ in range(4):
        advised.advise(order)
    assert advised.plan(order) == []
    assert [job for job in advised.slurm.stands() if job != "5"] == order[1:]
    advised.hand_back()
    assert advised.slurm.nices == advised.slurm.own


def test_a_minute_begins_when_changes_were_done(tmp_path: Path) -> None:
    """Slurm may be slow."""
    advised = Advised(tmp_path, Slurm({str(k): 0 for k in range(9)}), most=3)
    order = [str(k) for k in range(9)][::-1]
    planned = advised.plan(order)
    advised.now_ms += 50_000
    advised.adviser.note_done(planned, advised.now_ms)
    assert len(planned) == 3 and advised.plan(order) == []
    advised.now_ms += 30_000
    assert len(advised.plan(order)) == 3
    advised.store.close()


def test_what_ends_may_wait_again(advised: Advised) -> None:
    """A job that is requeued looks like one that has ended, but takes its own nice value again."""
    slurm = advised.slurm
    advised.advise(["5", "4", "3", "2", "1"])
    slurm.ends, slurm.ended = {"1", "5"}, "5"
    advised.hand_back()
    assert {unit for unit, nice in slurm.nices.items() if nice != slurm.own[unit]} == {"5"}
    assert advised.rows() == []
