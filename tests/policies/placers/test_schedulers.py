"""Schedulers that share a cluster, on clusters drawn by hand (``docs/reference/semantics.md`` §7); see `drawn`.

A line is a rack, and racks are what schedulers own. A busy GPU's job asks for the node that it is on, so it belongs to
that node's scheduler. A gang belongs to a scheduler drawn by chance: each test looks for a seed under which it is the
one that the test is about.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.cluster import load_cluster
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.errors import InputError, UsageError
from pointsman.policies.registry import get_policy
from tests.free import simulate

from .drawn import cluster, picture, run, where

ALL = ("lb", "tetris-place", "lif", "random-place", "packed", "packed-lif", "packed-patience", "scorer")
HOMES = 0x686F6D65


def seed_for(before: str, *owners: int, schedulers: int = 2) -> int:
    """One under which gangs that any scheduler could hold belong to these."""
    busy = before.count("#")
    for seed in range(10_000):
        drawn = np.random.default_rng([seed, HOMES]).random(busy + len(owners))[busy:]
        if tuple(int(x) for x in drawn * schedulers) == owners:
            return seed
    raise AssertionError("no such seed")


def among(schedulers: int, **more: Any) -> dict[str, Any]:
    return {"params": {"schedulers": schedulers, **more}}


def test_racks_are_divided_as_evenly_as_cuts_one_by_one_allow() -> None:
    def owners(on: str, schedulers: int) -> list[int]:
        return scheduler_of_nodes(load_cluster(on).layout(), schedulers).tolist()

    assert owners("8x4/rack=2", 1) == [0] * 8
    assert owners("8x4/rack=2", 2) == [0, 0, 0, 0, 1, 1, 1, 1]
    assert owners("8x4/rack=2", 3) == [0, 0, 1, 1, 1, 1, 2, 2], "8 GPUs are nearest to 10.7, and 24 to 21.3"
    assert owners("8x4/rack=2", 4) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert owners("1x8/rack=1+4x2/rack=1", 2) == [0, 1, 1, 1, 1]
    assert owners("3x2/rack=1+1x8/rack=1", 3) == [0, 0, 1, 2], "a rack is left for the last"


def test_a_gang_goes_on_nodes_of_its_scheduler_only(tmp_path: Path) -> None:
    before = """
        [..|..] [..|..]
        [#.|..] [##|..]
        """
    first = """
        [AA|..] [..|..]
        [#.|..] [##|..]
        """
    second = """
        [..|..] [..|..]
        [#.|..] [##|AA]
        """
    for owner, after in enumerate((first, second)):
        assert where(tmp_path, "packed", before, 2, seed=seed_for(before, owner), **among(2)) == picture(after)


def test_each_scheduler_goes_on_in_its_own_queue(tmp_path: Path) -> None:
    """The first gang has no room; the second is another scheduler's, and the third overtakes the first."""
    before = "[##|##] [##|#.]\n[..|..] [..|..]"
    result = run(tmp_path, "packed", before, [3, 4, 1], seed=seed_for(before, 0, 1, 0), **among(2, forward=False))
    assert result.jobs["wait_s"].to_list()[7:] == [990.0, 0.0, 0.0]
    assert result.events is not None
    starts = result.events.filter((pl.col("kind") == "START") & (pl.col("time_ms") == 10_000))
    assert starts.select("row", "node").rows() == [(8, 2), (9, 1)]


def test_what_cannot_be_placed_here_is_forwarded_to_where_most_is_free(tmp_path: Path) -> None:
    before = """
        [##|##] [##|#.]
        [..|..] [#.|..]
        [..|..] [..|..]
        [#.|..] [#.|..]
        """
    after = """
        [##|##] [##|#.]
        [..|..] [#.|..]
        [AA|..] [..|..]
        [#.|..] [#.|..]
        """
    seed = seed_for(before, 0, schedulers=4)
    for policy in ("packed", "packed-lif", "packed-patience", "scorer"):
        forwarded = run(tmp_path, policy, before, [2], seed=seed, **among(4))
        assert where(tmp_path, policy, before, 2, seed=seed, **among(4)) == picture(after), policy
        waits = run(tmp_path, policy, before, [2], seed=seed, **among(4, forward=False))
        assert (forwarded.jobs["wait_s"][-1], waits.jobs["wait_s"][-1]) == (0.0, 990.0)


def test_of_schedulers_with_as_much_the_first_gets_it(tmp_path: Path) -> None:
    before = "[##|##]\n[#.|..]\n[#.|..]"
    seed = seed_for(before, 0, schedulers=3)
    assert where(tmp_path, "lb", before, 3, seed=seed, **among(3)) == picture("[##|##]\n[#A|AA]\n[#.|..]")
    assert where(tmp_path, "lb", before, 3, 3, seed=seed_for(before, 0, 0, schedulers=3), **among(3)) == picture(
        "[##|##]\n[#A|AA]\n[#B|BB]"
    )


def test_what_fits_here_is_not_forwarded(tmp_path: Path) -> None:
    before = "[##|#.]\n[..|..]"
    assert where(tmp_path, "lb", before, 1, seed=seed_for(before, 0), **among(2)) == picture("[##|#A]\n[..|..]")


def test_nothing_is_forwarded_twice(tmp_path: Path) -> None:
    """The gang goes to the second scheduler, whose node fails at 20 s; the first has room from 1000 s on, but it waits
    for the node, which is up at 2000 s.
    """
    before = "[##|##]\n[..|..]"
    seed = seed_for(before, 0)
    fails: Any = [(20.0, 1, "DOWN"), (2000.0, 1, "UP")]
    result = run(tmp_path, "packed", before, [4], seed=seed, node_events=fails, **among(2))
    assert result.events is not None
    starts = result.events.filter((pl.col("kind") == "START") & (pl.col("row") == 4))
    assert starts.select("time_ms", "node").rows() == [(10_000, 1), (2_000_000, 1)]


def test_one_that_was_forwarded_holds_up_none_that_was_not(tmp_path: Path) -> None:
    """Gangs alike, both of the second scheduler: one came from the first, and its node failed; the other came later,
    and goes to the third when there is room.
    """
    on = cluster(tmp_path, "[..|..]\n[..|..]\n[..|..]", {}, {})
    jobs = pl.DataFrame(
        {
            "submit_s": [0.0, 0.0, 10.0, 15.0], "gpus": [4] * 4, "duration_s": [1000.0, 50.0, 500.0, 500.0],
            "partition": ["n0", "n2", None, None],
        }
    )  # fmt: skip
    result = simulate(
        pointsman.Workload.of(jobs), on, "packed", seed=seed_for("##", 0, 1, schedulers=3), audit=True,
        node_events=[(20.0, 1, "DOWN"), (3000.0, 1, "UP")], **among(3),
    )  # fmt: skip
    assert result.events is not None
    starts = result.events.filter((pl.col("kind") == "START") & (pl.col("row") > 1)).sort("row", "time_ms")
    assert starts.select("row", "time_ms", "node").rows() == [(2, 10_000, 1), (2, 3_000_000, 1), (3, 50_000, 2)]


def test_a_patient_job_is_forwarded_to_a_compact_place(tmp_path: Path) -> None:
    before = """
        [##|#.] [##|#.]
        [#.|..] [##|##]
        """
    after = """
        [##|#.] [##|#.]
        [#.|AA] [##|##]
        """
    seed = seed_for(before, 0)
    for policy in ("packed-patience", "scorer"):
        assert where(tmp_path, policy, before, 2, seed=seed, **among(2)) == picture(after)
    scattered = picture("[##|#A] [##|#A]\n[#.|..] [##|##]")
    assert where(tmp_path, "packed", before, 2, seed=seed, **among(2)) == scattered
    assert where(tmp_path, "packed-patience", before, 2, seed=seed, **among(2, patience=0)) == scattered


def test_a_patient_job_waits_where_no_scheduler_has_a_compact_place(tmp_path: Path) -> None:
    before = "[##|#.] [##|#.]\n[##|#.] [##|#.]"
    result = run(tmp_path, "packed-patience", before, [2], lasts_s=400, seed=seed_for(before, 0), **among(2))
    assert result.jobs["wait_s"][-1] == 200


def test_a_wide_gang_belongs_to_a_scheduler_that_could_hold_it(tmp_path: Path) -> None:
    before = "[..|..]\n[..|..] [..|..]"
    for seed in range(8):
        after = picture("[..|..]\n[AA|AA] [AA|A.]")
        assert where(tmp_path, "lb", before, 7, seed=seed, **among(2, forward=False)) == after


def test_a_gang_too_wide_for_every_scheduler_is_refused_by_name(tmp_path: Path) -> None:
    before = "[..|..]\n[..|..] [..|..]"
    with pytest.raises(InputError, match=r"job '0' .*asks for 9 GPUs, and none of 2 schedulers can ever give it more"):
        run(tmp_path, "lb", before, [9], **among(2))
    narrowed = run(tmp_path, "lb", before, [9], oversized="clamp", **among(2))
    assert narrowed.jobs["gpus"].to_list() == [8]
    assert run(tmp_path, "lb", before, [9]).jobs["wait_s"].to_list() == [0.0]


def test_fewer_racks_than_schedulers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="3 schedulers need one rack each, and the cluster has 2 racks"):
        run(tmp_path, "lb", "[..|..]\n[..|..]", [1], **among(3))


def test_another_policy_takes_over_only_with_as_many_schedulers() -> None:
    class Asks:
        name, needs, placement = "asks", "none", "tightest"

        def decide(self, view: Any) -> None:
            view.what_if(get_policy("packed").make({"schedulers": 2}))

    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [10.0]}))
    with pytest.raises(UsageError, match="'packed' divides the cluster among 2 schedulers, and this run has 1"):
        simulate(jobs, "2x4/rack=1", Asks())


@pytest.mark.parametrize("policy", ALL)
def test_a_single_scheduler_is_as_none(tmp_path: Path, policy: str) -> None:
    before = "[#.|..] [##|..]\n[..|..] [##|#.]"
    gangs = [3, 1, 6, 2, 2]
    plain, one = (run(tmp_path, policy, before, gangs, **options) for options in ({}, among(1, forward=False)))
    assert plain.jobs.equals(one.jobs)
