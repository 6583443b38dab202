"""Where each placer puts gangs on clusters drawn by hand (``docs/reference/semantics.md`` §7); see `drawn`."""

from pathlib import Path

from tests.cli.conftest import Command

from .drawn import picture, run, where


def test_lb_takes_the_node_with_the_most_free_gpus_again_and_again(tmp_path: Path) -> None:
    """Four are free on the third node; then three there and on the second, which comes first; then three there."""
    before = """
        [##|..] [#.|..]
        [..|..] [##|#.]
        """
    after = """
        [##|..] [#A|..]
        [AA|..] [##|#.]
        """
    assert where(tmp_path, "lb", before, 3) == picture(after)


def test_packed_takes_the_fullest_node_with_room(tmp_path: Path) -> None:
    before = "[..|..] [#.|..] [##|..] [##|#.]"
    assert where(tmp_path, "packed", before, 2) == picture("[..|..] [#.|..] [##|AA] [##|#.]")
    assert where(tmp_path, "packed", before, 3) == picture("[..|..] [#A|AA] [##|..] [##|#.]")


def test_packed_takes_the_fullest_rack_with_room_and_few_nodes_of_it(tmp_path: Path) -> None:
    before = """
        [..|..] [..|..] [..|..]
        [..|..] [#.|..] [##|..]
        [##|#.] [##|..] [##|..]
        """
    five = """
        [..|..] [..|..] [..|..]
        [..|..] [#.|..] [##|..]
        [##|#A] [##|AA] [##|AA]
        """
    six = """
        [..|..] [..|..] [..|..]
        [AA|AA] [#.|..] [##|AA]
        [##|#.] [##|..] [##|..]
        """
    assert where(tmp_path, "packed", before, 5) == picture(five)
    assert where(tmp_path, "packed", before, 6) == picture(six), "a whole node, and the tightest with room for the rest"


def test_packed_goes_beyond_racks_where_none_has_room(tmp_path: Path) -> None:
    before = "[..|..] [##|..]\n[##|#.] [#.|..]"
    assert where(tmp_path, "packed", before, 8) == picture("[AA|AA] [##|..]\n[##|#A] [#A|AA]")


def test_packed_does_not_wait_for_whole_nodes(tmp_path: Path) -> None:
    before = "[#.|..] [#.|..]"
    assert where(tmp_path, "packed", before, 6) == picture("[#A|AA] [#A|AA]")
    consolidated = run(tmp_path, "fifo-backfill", before, [6])
    assert consolidated.jobs["wait_s"][-1] > 0


def test_tetris_takes_shares_not_gpus(tmp_path: Path) -> None:
    """Two of two GPUs free are a larger share than three of four."""
    before = "[#.|..] [.|.]"
    assert where(tmp_path, "tetris-place", before, 1) == picture("[#.|..] [A|.]")
    assert where(tmp_path, "lb", before, 1) == picture("[#A|..] [.|.]")


def test_gpus_come_from_as_few_sockets_as_there_need_be(tmp_path: Path) -> None:
    before = "[#...|....]"
    assert where(tmp_path, "packed", before, 3) == picture("[#AAA|....]")
    assert where(tmp_path, "packed", before, 4) == picture("[#...|AAAA]")
    assert where(tmp_path, "packed", before, 5) == picture("[#A..|AAAA]")


def test_all_keep_the_order_of_fifo_backfill(tmp_path: Path) -> None:
    """The first gang does not fit, the second and third do; then the first, when the busy GPUs are free."""
    for policy in ("lb", "tetris-place", "lif", "packed", "packed-lif", "packed-patience", "random-place", "scorer"):
        result = run(tmp_path, policy, "[##|..]", [3, 1, 1])
        waits = result.jobs["wait_s"].to_list()[2:]
        assert waits == [1000.0, 0.0, 0.0], policy  # till 1010 s, when the others end too


def test_random_places_differ_by_their_seed_only(tmp_path: Path) -> None:
    before = "[..|..] [..|..]\n[..|..] [..|..]"
    places = [where(tmp_path, "random-place", before, 3, 2, params={"random_seed": seed}) for seed in range(6)]
    assert len(set(places)) > 3
    assert places[0] == where(tmp_path, "random-place", before, 3, 2)


def test_patience_ends_after_a_share_of_the_duration(tmp_path: Path) -> None:
    """The gang of two could be on one node, but one GPU is free on each."""
    before = "[#.] [#.]"
    for patience, waits in ((0.0, 0.0), (0.25, 50.0)):
        result = run(tmp_path, "packed-patience", before, [2], lasts_s=200.0, params={"patience": patience})
        assert result.jobs["wait_s"][-1] == waits


def test_another_job_may_overtake_a_patient_one(tmp_path: Path) -> None:
    result = run(tmp_path, "packed-patience", "[#.] [#.]", [2, 1], lasts_s=200.0)
    waits = result.jobs["wait_s"].to_list()[2:]
    assert waits[1] == 0.0
    assert waits[0] == 200.0, "two free GPUs, one of them of the other node, when the overtaker ends"


def test_a_gang_wider_than_a_node_is_patient_for_few_nodes_of_one_rack(tmp_path: Path) -> None:
    before = """
        [##|#.] [..|..] [#.|..]
        [..|..] [##|#.] [##|#.]
        """
    after = """
        [##|#.] [AA|AA] [#.|AA]
        [..|..] [##|#.] [##|#.]
        """
    assert where(tmp_path, "packed-patience", before, 6) == picture(after)
    # eight GPUs are free in the first rack, but on three nodes, and two could hold them
    result = run(tmp_path, "packed-patience", before, [8], lasts_s=200.0)
    assert result.jobs["wait_s"][-1] == 100.0


def test_explain_says_what_a_patient_job_waits_for(command: Command, here: Path) -> None:
    """One GPU of each node is busy. The gang could be on one node, and is on both when its patience ends."""
    (here / "jobs.csv").write_text("submit_s,gpus,duration_s,partition\n0,1,1000,a\n0,1,1000,b\n10,2,200,\n")
    two_nodes = "1x2/partition=a,gpu=v100+1x2/partition=b,gpu=v100"
    done = command("simulate", "jobs.csv", "--cluster", two_nodes, "--policy", "packed-patience", "-o", "run")
    assert done.code == 0, done.err
    waits, runs = (command("explain", "2", "--run", "run", "--at", at).out for at in ("20", "115"))
    assert "needs 2 GPUs on one node; best node has 1 free; holds out for one node until 110 s" in waits
    assert "RUNNING: it holds 2 GPUs" in runs
