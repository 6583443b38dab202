"""Placers that look at what jobs do to each other, on the servers of `two_sockets`: 6 cores, 0.9 GB/s of PCIe a socket,
3 GB/s to memory; see `drawn`.
"""

from pathlib import Path

import pytest

from ...engine.rate_models.two_sockets import profile
from .drawn import picture, run, where

CORES = {"busy": profile(cores=2, mb_per_s=0), "idle": profile(cores=0.001, mb_per_s=0)}
PATHS = {"mover": profile(cores=0, mb_per_s=300), "still": profile(cores=0, mb_per_s=1)}
TABLE = {"node_interference": "table:kappa=0"}


def test_tetris_counts_cores(tmp_path: Path) -> None:
    """Three of four GPUs are free on both, and of the cores 4 of 6 on the first; with two workers, 2 of 6 and 1/2."""
    before = "[#.|..] [#.|..]"
    on = {0: "busy", 1: "idle"}
    placed = where(tmp_path, "tetris-place", before, (1, "busy"), models=CORES, on=on, **TABLE)
    assert placed == picture("[#.|..] [#A|..]")
    on = {0: "idle", 1: "busy"}
    assert where(tmp_path, "tetris-place", before, (1, "busy"), models=CORES, on=on, **TABLE) == picture(
        "[#A|..] [#.|..]"
    )


def test_tetris_counts_the_cores_of_its_own_workers(tmp_path: Path) -> None:
    """Free shares by node, GPUs and cores: 1 + 1 and 3/4 + 1, so the first; then 3/4 + 4/6 and 3/4 + 1."""
    before = "[..|..] [#.|..]"
    placed = where(tmp_path, "tetris-place", before, (2, "busy"), models=CORES, on={1: "idle"}, **TABLE)
    assert placed == picture("[A.|..] [#A|..]")


def test_lif_avoids_the_crowded_cores(tmp_path: Path) -> None:
    """Two workers more than the 6 cores bear on the first node: 8 of 6. The second is idle but for a GPU."""
    before = "[##|#.] [#.|..]"
    on = {0: "busy", 1: "idle"}
    assert where(tmp_path, "packed", before, (1, "busy"), models=CORES, on=on, **TABLE) == picture("[##|#A] [#.|..]")
    for policy in ("lif", "packed-lif"):
        placed = where(tmp_path, policy, before, (1, "busy"), models=CORES, on=on, **TABLE)
        assert placed == picture("[##|#.] [#A|..]"), policy


def test_lif_breaks_up_servers_where_packed_lif_does_not(tmp_path: Path) -> None:
    """Of four workers of 2 cores three fit the 6 cores of a node: LIF puts two on each, for they are slowed nowhere."""
    before = "[..|..] [..|..]"
    assert where(tmp_path, "lif", before, (4, "busy"), models=CORES, **TABLE) == picture("[AA|..] [AA|..]")
    assert where(tmp_path, "packed-lif", before, (4, "busy"), models=CORES, **TABLE) == picture("[AA|AA] [..|..]")


def test_lif_among_equals_takes_the_freest(tmp_path: Path) -> None:
    """No job names a model: none slows another."""
    before = "[##|..] [#.|..] [##|#.]"
    assert where(tmp_path, "lif", before, 2, **TABLE) == picture("[##|A.] [#A|..] [##|#.]")
    assert where(tmp_path, "packed-lif", before, 2, **TABLE) == where(tmp_path, "packed", before, 2)


def test_lif_counts_what_is_wanted_of_the_network_card(tmp_path: Path) -> None:
    """A gang on the first two nodes wants more of their cards than they have; the third has fewer GPUs free."""
    sends = {"sender": profile(cores=0, mb_per_s=1, gradient_mb=4000.0), "still": profile(cores=0, mb_per_s=1)}
    before = "[..|..] [..|..] [##|#.]"
    options = {"models": sends, "contention": "max-min", "node": {"nic": {"bandwidth": "1 GB/s"}}, **TABLE}
    on = {2: "still"}
    alone = where(tmp_path, "lif", before, (2, "sender"), on=on, **options)
    assert alone == picture("[A.|..] [A.|..] [##|#.]")
    two = where(tmp_path, "lif", before, (2, "sender"), (2, "sender"), on=on, **options)
    assert two == picture("[AB|..] [A.|..] [##|#B]") or two == picture("[AB|..] [AB|..] [##|#.]")


def test_lif_counts_what_is_wanted_of_the_second_card_of_a_bcube(tmp_path: Path) -> None:
    """Two gangs in the first column want more of its second cards than they have; the others have fewer GPUs free."""
    sends = {"sender": profile(cores=0, mb_per_s=1, gradient_mb=4000.0), "still": profile(cores=0, mb_per_s=1)}
    before = """
        [..|..] [##|#.]
        [..|..] [##|#.]
        """
    after = """
        [AB|..] [##|#C]
        [AB|..] [##|#.]
        """
    gangs = (2, "sender"), (2, "sender"), (1, "still")
    options = {"models": sends, "node": {"nic": {"bandwidth": "1 GB/s"}}, "topology": {"bcube": {"n": 2}}, **TABLE}
    assert where(tmp_path, "lif", before, *gangs, contention="max-min", **options) == picture(after)
    unshared = where(tmp_path, "lif", before, *gangs, **options)
    assert unshared == picture(after.replace("C", ".").replace("[AB|..]", "[AB|C.]", 1))


@pytest.mark.parametrize(("comes_s", "after"), [(14.9, "[AB|C.] [AB|..] [##|#.]"), (15, "[AB|..] [AB|..] [##|#C]")])
def test_lif_counts_gangs_from_the_instant_at_which_they_run(comes_s: float, after: str, tmp_path: Path) -> None:
    """While they start, until 15 s, they send nothing; then both want all that the cards of two nodes have."""
    sends = {"sender": profile(cores=0, mb_per_s=1, gradient_mb=4000.0), "still": profile(cores=0, mb_per_s=1)}
    gangs = (2, "sender"), (2, "sender"), (1, "still")
    options = {"models": sends, "on": {2: "still"}, "contention": "max-min", "node": {"nic": {"bandwidth": "1 GB/s"}}}
    placed = where(
        tmp_path, "lif", "[..|..] [..|..] [##|#.]", *gangs,
        come_s=(10, 10, comes_s), overheads={"start_s": 5}, **options, **TABLE,
    )  # fmt: skip
    assert placed == picture(after)


@pytest.mark.parametrize("harm", [0.0, 1.0])
def test_the_scorer_weighs_harm_under_node_link_however_little_links_carry(harm: float, tmp_path: Path) -> None:
    """The scorer would have B on two racks, but not where its ring shares a card with that of A. Latency is nearly all
    of an all-reduce, so that both want little of the card.
    """
    before = """
        [#..] [#..]
        [##.] [##.]
        """
    wanted = """
        [#AA] [#AB]
        [##B] [##.]
        """
    packed = """
        [#AA] [#A.]
        [##B] [##B]
        """
    options = {
        "models": {"sender": profile(cores=0, mb_per_s=1, gradient_mb=1.0)},
        "network": {"rack": {"latency": "1 s"}, "pod": {"latency": "1 s"}},
        "node": {"nic": {"bandwidth": "1 GB/s"}}, "contention": "node-link",
    }  # fmt: skip
    weights = dict.fromkeys(("slow_down", "servers", "gpus_left", "broken_sockets", "patience"), 0.0)
    placed = where(
        tmp_path, "scorer", before, (3, "sender"), (2, "sender"),
        params=weights | {"racks": -0.5, "harm": harm}, **options,
    )  # fmt: skip
    assert placed == picture(packed if harm else wanted)


def test_the_scorer_weighs_its_slow_down_against_gpus_left(tmp_path: Path) -> None:
    """On the first node 8 of 6 cores, 4/3 times as long; on the second it leaves two GPUs over, and breaks a socket."""
    before = "[##|#.] [#.|..]"
    options = {"models": CORES, "on": {0: "busy", 1: "idle"}, **TABLE}
    only = dict.fromkeys(("slow_down", "harm", "servers", "racks", "gpus_left", "broken_sockets", "patience"), 0.0)
    slow = where(tmp_path, "scorer", before, (1, "busy"), params=only | {"slow_down": 1.0}, **options)
    assert slow == picture("[##|#.] [#A|..]")
    left = where(tmp_path, "scorer", before, (1, "busy"), params=only | {"gpus_left": 1.0}, **options)
    assert left == picture("[##|#A] [#.|..]")
    # 1/3 against 2/8: the first leaves none over
    both = {"slow_down": 0.70, "gpus_left": 1.0}
    assert where(tmp_path, "scorer", before, (1, "busy"), params=only | both, **options) == left
    both = {"slow_down": 0.80, "gpus_left": 1.0}
    assert where(tmp_path, "scorer", before, (1, "busy"), params=only | both, **options) == slow


def test_the_scorer_weighs_harm_to_others(tmp_path: Path) -> None:
    """The newcomer is not slowed itself, its theta is 0: but three jobs take 4/3 times as long beside it."""
    models = {**CORES, "rude": profile(cores=2, mb_per_s=0, theta=0.0)}
    before = "[##|#.] [#.|..]"
    options = {"models": models, "on": {0: "busy", 1: "idle"}, **TABLE}
    only = dict.fromkeys(("slow_down", "harm", "servers", "racks", "gpus_left", "broken_sockets", "patience"), 0.0)
    placed = where(
        tmp_path, "scorer", before, (1, "rude"), params=only | {"slow_down": 9.0, "gpus_left": 1.0}, **options
    )
    assert placed == picture("[##|#A] [#.|..]")
    # for all of its life three others lose a quarter of their rate: 3 * 1/3 of its work
    placed = where(tmp_path, "scorer", before, (1, "rude"), params=only | {"harm": 0.24, "gpus_left": 1.0}, **options)
    assert placed == picture("[##|#A] [#.|..]")
    placed = where(tmp_path, "scorer", before, (1, "rude"), params=only | {"harm": 0.26, "gpus_left": 1.0}, **options)
    assert placed == picture("[##|#.] [#A|..]")


def test_the_scorer_prefers_whole_sockets_where_they_weigh(tmp_path: Path) -> None:
    before = "[#.|..] [..|..]"
    only = dict.fromkeys(("slow_down", "harm", "servers", "racks", "gpus_left", "broken_sockets", "patience"), 0.0)
    for weights in ({"broken_sockets": 1.0}, {"gpus_left": 1.0}):
        assert where(tmp_path, "scorer", before, 1, params=only | weights) == picture("[#A|..] [..|..]")


def test_the_scorer_without_interference_runs(tmp_path: Path) -> None:
    assert run(tmp_path, "scorer", "[#.|..] [..|..]", [6]).jobs["state"].to_list() == ["COMPLETED"] * 2
