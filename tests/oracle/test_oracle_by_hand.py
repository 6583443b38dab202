"""Placement, order, queues and knowledge: schedules worked out on paper from docs/reference/semantics.md.

Drawings: one line per node (or GPU), one letter per ms, capital letters are jobs by row (A is row 0), `.` is idle.
"""

from collections.abc import Sequence

import pytest

from . import Job, Node, Schedule, simulate


def starts(schedule: Schedule) -> list[int | None]:
    return schedule.first_start_ms


def where(schedule: Schedule, row: int) -> tuple[tuple[int, int], ...]:
    """(node, mask) pairs of the row's first START."""
    return next(place for _, verb, at, place in schedule.log if verb == "START" and at == row)


def run_at_zero(nodes: Sequence[Node], *gpus: int, placement: str = "consolidated") -> Schedule:
    """Jobs of 10 ms, all submitted at 0."""
    return simulate(nodes, [Job(0, g, 10) for g in gpus], "fifo", placement=placement)


# -- placement (section 3) -----------------------------------------------------------------------------


def test_best_fit_takes_the_fullest_node_that_fits() -> None:
    # n0 has 4, n1 has 2, n2 has 3 free: a job of 2 goes to n1, the next of 2 to n2 (3 < 4 free).
    schedule = run_at_zero([Node(4), Node(2), Node(3)], 2, 2)
    assert where(schedule, 0) == ((1, 0b11),)
    assert where(schedule, 1) == ((2, 0b011),)


def test_best_fit_tie_goes_to_the_lowest_node_index() -> None:
    # n0 4 free; n1, n2 2 free each: B of 1 ties n1/n2 -> n1; C of 1 sees n1 with 1 free -> n1 again.
    schedule = run_at_zero([Node(4), Node(2), Node(2)], 1, 1)
    assert where(schedule, 0) == ((1, 0b01),)
    assert where(schedule, 1) == ((1, 0b10),)


def test_freed_gpus_of_lowest_index_are_taken_first() -> None:
    # gpu0 AAAAA CC     A ends at 5, B holds gpu1 to 10, C (submitted at 6) takes gpu0 and gpu2.
    # gpu1 BBBBBBBBBB
    # gpu2 ...... CC
    schedule = simulate([Node(4)], [Job(0, 1, 5), Job(0, 1, 10), Job(6, 2, 2)], "fifo")
    assert where(schedule, 2) == ((0, 0b0101),)


def test_gang_wider_than_a_node_takes_whole_nodes_and_best_fits_its_remainder() -> None:
    # Nodes 2 4 4 3, largest 4. A of 6 = one whole node (n1, the lowest of size 4) + 2 by best fit: n0.
    schedule = run_at_zero([Node(2), Node(4), Node(4), Node(3)], 6)
    assert where(schedule, 0) == ((0, 0b11), (1, 0b1111))


def test_remainder_of_a_gang_by_first_fit_goes_to_the_lowest_node() -> None:
    # Nodes 3 2 4 4. A of 6: n2 whole, then 2: first fit n0 (best fit would be n1).
    schedule = run_at_zero([Node(3), Node(2), Node(4), Node(4)], 6, placement="first-fit")
    assert where(schedule, 0) == ((0, 0b011), (2, 0b1111))


def test_few_racks_before_nodes_of_low_index() -> None:
    # Racks of two nodes of 4, and a job of 1 on n0:  | 3 4 | 4 4 |.  A of 8: consolidated n1 n2, few racks n2 n3.
    nodes = [Node(4, rack=k // 2) for k in range(4)]
    assert where(run_at_zero(nodes, 1, 8), 1) == ((1, 0b1111), (2, 0b1111))
    assert where(run_at_zero(nodes, 1, 8, placement="few-racks"), 1) == ((2, 0b1111), (3, 0b1111))


def test_few_racks_keep_the_remainder_near() -> None:
    # | 4 3 | 4 4 | with A of 2 on n1 (fewest free).  B of 5: one whole node of the first rack (it has one: suits best),
    # then 1 GPU in the same rack: n1.  Consolidated does the same; with C of 10: racks 4 4 | 4 4 | 2, n2 n3, rest on n4
    # by best fit anywhere, or, in few racks, there is no room left in their rack, so n4 too.
    nodes = [Node(4, rack=0), Node(3, rack=0), Node(4, rack=1), Node(4, rack=1)]
    assert where(run_at_zero(nodes, 2, 5, placement="few-racks"), 1) == ((0, 0b1111), (1, 0b100))
    wide = [Node(4, rack=0), Node(2, rack=1), Node(4, rack=1), Node(4, rack=1)]
    assert where(run_at_zero(wide, 10, placement="few-racks"), 0) == ((1, 0b11), (2, 0b1111), (3, 0b1111))
    apart = [Node(2, rack=0), Node(4, rack=1), Node(4, rack=1), Node(4, rack=2)]
    assert where(run_at_zero(apart, 10, placement="few-racks"), 0) == ((0, 0b11), (1, 0b1111), (2, 0b1111))


def test_gang_waits_for_whole_nodes_though_enough_gpus_are_free() -> None:
    # n0 A... (1 of 4)  n1 .... n2 free: B of 8 needs two whole nodes: n1, n2. With only n1 it waits for A.
    # n0 AAAAAAAAAA BBBBBBBBBB
    # n1 .......... BBBBBBBBBB
    schedule = run_at_zero([Node(4), Node(4)], 1, 8)
    assert starts(schedule) == [0, 10]
    assert schedule.end_ms == [10, 20]


def test_gang_whose_remainder_has_no_node_takes_nothing() -> None:
    # Nodes 4 4. A of 3 on n0 leaves 1; B of 6 = n1 whole + 2, but n0 has 1: B waits to 10, nothing is held.
    schedule = run_at_zero([Node(4), Node(4)], 3, 6)
    assert starts(schedule) == [0, 10]
    assert schedule.held_gpu_ms == [30, 60]


def test_first_fit_takes_the_lowest_node_with_room() -> None:
    # Best fit would put A of 2 on n1 (2 free); first fit on n0.
    schedule = run_at_zero([Node(4), Node(2)], 2, placement="first-fit")
    assert where(schedule, 0) == ((0, 0b0011),)


def test_spread_goes_to_the_node_with_most_free_one_gpu_at_a_time() -> None:
    # Nodes 3 2: free (3,2) -> n0; (2,2) tie -> n0; (1,2) -> n1; (1,1) tie -> n0.
    schedule = run_at_zero([Node(3), Node(2)], 4, placement="spread")
    assert where(schedule, 0) == ((0, 0b111), (1, 0b01))


def test_spread_places_what_consolidation_refuses() -> None:
    # The largest node has 2: a packed gang of 5 is two whole nodes of 2 and 1, and there is only one such node.
    nodes = [Node(2), Node(1), Node(1), Node(1)]
    assert where(run_at_zero(nodes, 5, placement="spread"), 0) == ((0, 0b11), (1, 1), (2, 1), (3, 1))
    with pytest.raises(ValueError, match="job 0"):
        run_at_zero(nodes, 5)


# -- demand (section 2) --------------------------------------------------------------------------------


def test_empty_type_tries_each_type_alone_in_order_of_appearance() -> None:
    # n0 b(2), n1 a(4), n2 b(2). A of 4 and type '': b alone = n0 + n2 (size 2, two whole nodes) comes first.
    # B of 1: b is full, so a.
    nodes = [Node(2, gpu_type="b"), Node(4, gpu_type="a"), Node(2, gpu_type="b")]
    schedule = run_at_zero(nodes, 4, 1)
    assert where(schedule, 0) == ((0, 0b11), (2, 0b11))
    assert where(schedule, 1) == ((1, 0b0001),)


def test_bar_tries_types_in_the_order_written_and_plus_mixes_them() -> None:
    # n0 a(2), n1 b(2). A 'b|a' -> n1. B 'a+b' of 3 mixes: size 2, one whole node (n0) and 1 more (n1).
    nodes = [Node(2, gpu_type="a"), Node(2, gpu_type="b")]
    jobs = [Job(0, 1, 5, gpu_type="b|a"), Job(0, 3, 5, gpu_type="a+b")]
    schedule = simulate(nodes, jobs, "fifo")
    assert where(schedule, 0) == ((1, 0b01),)
    assert starts(schedule) == [0, 0]
    assert where(schedule, 1) == ((0, 0b11), (1, 0b10))


def test_gang_without_a_plus_never_spans_two_types() -> None:
    with pytest.raises(ValueError, match="job 0"):
        simulate([Node(2, gpu_type="a"), Node(2, gpu_type="b")], [Job(0, 3, 5, gpu_type="a|b")], "fifo")


def test_partition_admits_only_its_nodes() -> None:
    # n0 has no partition, n1 is in p and q. A and C of p run one after the other on n1, B anywhere: n0.
    nodes = [Node(2), Node(2, partitions=("p", "q"))]
    jobs = [Job(0, 2, 5, partition="p"), Job(0, 2, 5), Job(0, 2, 5, partition="p")]
    schedule = simulate(nodes, jobs, "fifo")
    assert [where(schedule, row) for row in range(3)] == [((1, 0b11),), ((0, 0b11),), ((1, 0b11),)]
    assert starts(schedule) == [0, 0, 5]


# -- fifo, sjf and their backfills (section 7) ---------------------------------------------------------


def test_fifo_head_blocks_those_behind_it() -> None:
    # gpu0 AAAAABBBCC
    # gpu1 .....BBB..   C (1 GPU) could run at 0 but stands behind B.
    schedule = simulate([Node(2)], [Job(0, 1, 5), Job(0, 2, 3), Job(0, 1, 2)], "fifo")
    assert starts(schedule) == [0, 5, 8]


TWO_TYPES = [Node(2, gpu_type="a"), Node(2, gpu_type="b")]


def test_a_blocked_head_does_not_block_jobs_of_other_nodes() -> None:
    # a0 AABBB         B (2 of a) waits for A; C (b) could use none of its nodes.
    # a1 ..BBB
    # b0 CCCC
    jobs = [Job(0, 1, 2, gpu_type="a"), Job(0, 2, 3, gpu_type="a"), Job(0, 1, 4, gpu_type="b")]
    for policy in ("fifo", "sjf", "easy"):
        assert starts(simulate(TWO_TYPES, jobs, policy)) == [0, 2, 0]


def test_no_job_overtakes_one_that_could_use_the_same_node() -> None:
    # a0 AAAAABBBC     C may have either type and stands behind B; D (b) stands behind C. Under easy C and D backfill.
    # a1 .....BBB
    # b0 .....CDD      At 5 B starts, C gets b0 (its first free node), and D b1.
    jobs = [Job(0, 1, 5, gpu_type="a"), Job(0, 2, 3, gpu_type="a"), Job(0, 1, 1), Job(0, 1, 2, gpu_type="b")]
    assert starts(simulate(TWO_TYPES, jobs, "fifo")) == [0, 5, 5, 5]
    assert starts(simulate(TWO_TYPES, jobs, "easy")) == [0, 5, 0, 0]


def test_easy_reserves_for_a_head_on_each_set_of_nodes() -> None:
    # a0 AAAAABBB      C runs on b0 until 4. D (2 of b) is a head of its own: E (1 of b, 9 ms) must not delay it,
    # a1 .....BBB      F (1 of b, 4 ms) ends in time.
    # b0 CCCCDDEEEEEEEEE
    # b1 FFFFDD
    jobs = [
        Job(0, 1, 5, gpu_type="a"),
        Job(0, 2, 3, gpu_type="a"),
        Job(0, 1, 4, gpu_type="b"),
        Job(0, 2, 2, gpu_type="b"),
        Job(0, 1, 9, gpu_type="b"),
        Job(0, 1, 4, gpu_type="b"),
    ]
    assert starts(simulate(TWO_TYPES, jobs, "easy")) == [0, 5, 0, 4, 6, 0]


def test_fifo_backfill_passes_the_blocked_job_over() -> None:
    # gpu0 AAAAABBB
    # gpu1 CC...BBB
    schedule = simulate([Node(2)], [Job(0, 1, 5), Job(0, 2, 3), Job(0, 1, 2)], "fifo-backfill")
    assert starts(schedule) == [0, 5, 0]


def test_fifo_backfill_can_delay_the_blocked_job() -> None:
    # gpu0 AAAAA...BBB
    # gpu1 CCCCCCCCBBB
    schedule = simulate([Node(2)], [Job(0, 1, 5), Job(0, 2, 3), Job(0, 1, 8)], "fifo-backfill")
    assert starts(schedule) == [0, 8, 0]


def test_equal_submit_times_go_by_row_and_higher_priority_goes_first() -> None:
    # One GPU: C (priority 1) 0-2, A 2-5, B 5-9.
    schedule = simulate([Node(1)], [Job(0, 1, 3), Job(0, 1, 4), Job(0, 1, 2, priority=1)], "fifo")
    assert starts(schedule) == [2, 5, 0]


def test_sjf_orders_by_estimate_not_by_truth_and_ties_by_row() -> None:
    # Estimates 5 2 2 with truths 1 6 3: B 0-6, C 6-9, A 9-10.
    jobs = [Job(0, 1, 1, estimate_ms=5), Job(0, 1, 6, estimate_ms=2), Job(0, 1, 3, estimate_ms=2)]
    schedule = simulate([Node(1)], jobs, "sjf")
    assert starts(schedule) == [9, 0, 6]


def test_sjf_stops_at_the_first_that_has_no_place() -> None:
    # A (1 GPU) runs 0-6. At 1: B (2 GPUs, 2 ms) is first by sjf and blocks C (1 GPU, 3 ms) on the idle GPU.
    # gpu0 AAAAAABBCCC
    # gpu1 ......BB...
    schedule = simulate([Node(2)], [Job(0, 1, 6), Job(1, 2, 2), Job(1, 1, 3)], "sjf")
    assert starts(schedule) == [0, 6, 8]


def test_sjf_backfill_takes_the_shortest_that_fits() -> None:
    # At 1 one GPU is idle: B (2 GPUs) is passed over, then D (2 ms) before C (3 ms).
    # gpu0 AAAAAABB
    # gpu1 .DDCCCBB     C 3-6, B 6-8
    schedule = simulate([Node(2)], [Job(0, 1, 6), Job(1, 2, 1), Job(1, 1, 3), Job(1, 1, 2)], "sjf-backfill")
    assert starts(schedule) == [0, 6, 3, 1]


def test_zero_work_job_ends_in_its_instant_which_happens_again() -> None:
    # A, B of no work and one GPU: A starts and ends at 0, the second pass of 0 starts B, the third C.
    schedule = simulate([Node(1)], [Job(0, 1, 0), Job(0, 1, 0), Job(0, 1, 4)], "fifo")
    assert starts(schedule) == [0, 0, 0]
    assert schedule.end_ms == [0, 0, 4]
    assert schedule.held_gpu_ms == [0, 0, 4]


def test_rate_by_locality_stretches_the_run() -> None:
    # n0, n1 in one rack, n2 in another of the same pod. A of 2 on n0 (NODE): 7 ms.
    # B of 4 on n1 + n2, two racks of one pod (POD, 3): ceil(7 / 0.5) = 14.
    nodes = [Node(2, rack=0), Node(2, rack=0), Node(2, rack=1)]
    rates = [1, 1, 0.75, 0.5, 0.25]
    schedule = simulate(nodes, [Job(0, 2, 7), Job(0, 4, 7)], "fifo", rate=lambda job, locality: rates[locality])
    assert schedule.end_ms == [7, 14]
    # Without A: n0 + n1 (RACK, 2): ceil(7 / 0.75) = ceil(9.33) = 10.
    alone = simulate(nodes, [Job(0, 4, 7)], "fifo", rate=lambda job, locality: rates[locality])
    assert alone.end_ms == [10]


# -- queues (section 4) --------------------------------------------------------------------------------


def test_queue_at_its_limit_closes_and_blocks_nobody_else() -> None:
    # Limit of q: 2. A (q, 1) starts; B (q, 2) would make 3: q closes, so C (q, 1) does not start though it
    # would fit the limit; D of no queue does.
    # A 0-5 | B 5-10 | C 10-15 | D 0-5
    jobs = [Job(0, 1, 5, queue="q"), Job(0, 2, 5, queue="q"), Job(0, 1, 5, queue="q"), Job(0, 1, 5)]
    schedule = simulate([Node(4)], jobs, "fifo", queue_limits={"q": 2})
    assert starts(schedule) == [0, 5, 10, 0]


def test_queue_closes_under_backfill_too() -> None:
    jobs = [Job(0, 1, 5, queue="q"), Job(0, 2, 5, queue="q"), Job(0, 1, 5, queue="q"), Job(0, 1, 5)]
    schedule = simulate([Node(4)], jobs, "fifo-backfill", queue_limits={"q": 2})
    assert starts(schedule) == [0, 5, 10, 0]


def test_job_wider_than_its_queue_is_refused() -> None:
    with pytest.raises(ValueError, match="queue"):
        simulate([Node(4)], [Job(0, 3, 1, queue="q")], "fifo", queue_limits={"q": 2})


# -- easy ----------------------------------------------------------------------------------------------


def test_easy_long_backfill_job_must_avoid_the_reserved_gpus() -> None:
    # Node of 4. A: 2 GPUs to 10. B (3 GPUs) is the head: shadow 10, when gpus 0-3 are free it gets 0,1,2.
    # C (2 GPUs, 20 ms): gpus 2,3 are free but 2 is reserved: no place. D (1 GPU, 20 ms): gpu3.
    # E (1 GPU, 9 ms, submitted at 1): 1 + 9 <= 10, may use gpu2.
    # gpu0 AAAAAAAAAABBBBB
    # gpu1 AAAAAAAAAABBBBB
    # gpu2 .EEEEEEEEEBBBBB
    # gpu3 DDDDDDDDDDDDDDDDDDDD
    jobs = [Job(0, 2, 10), Job(0, 3, 5), Job(0, 2, 20), Job(0, 1, 20), Job(1, 1, 9)]
    schedule = simulate([Node(4)], jobs, "easy")
    assert starts(schedule) == [0, 10, 15, 0, 1]
    assert where(schedule, 3) == ((0, 0b1000),)
    assert where(schedule, 4) == ((0, 0b0100),)


def test_easy_job_that_would_end_after_the_shadow_time_is_not_backfilled_on_reserved_gpus() -> None:
    # As above with one ms more: 1 + 10 > 10, so E waits behind the head.
    # A 0-10, B (4 GPUs) 10-15, E 15-25.
    schedule = simulate([Node(4)], [Job(0, 2, 10), Job(0, 4, 5), Job(1, 1, 10)], "easy")
    assert starts(schedule) == [0, 10, 15]


def test_easy_releases_all_jobs_of_one_estimated_end_together() -> None:
    # Nodes of 3. A (2 GPUs, of partition p: n1) and B (2 GPUs, n0) end at 10; C (3 GPUs) is the head. With both
    # released C gets n0 by the tie (with A alone released it would be n1): D (1 GPU, 30 ms) may have n1's last only.
    # n0 BBBBBBBBBBCCCCC
    # n1 AAAAAAAAAA.....   and its gpu2 DDDDDDDDDDDDDDD...
    nodes = [Node(3), Node(3, partitions=("p",))]
    schedule = simulate(nodes, [Job(0, 2, 10, partition="p"), Job(0, 2, 10), Job(0, 3, 5), Job(0, 1, 30)], "easy")
    assert starts(schedule) == [0, 0, 10, 0]
    assert where(schedule, 3) == ((1, 0b100),)
    assert where(schedule, 2) == ((0, 0b111),)


def test_easy_overrun_moves_the_estimated_end_and_opens_backfill() -> None:
    # Two GPUs. A: 1 GPU, told 10 ms, truly 200 s. B: 2 GPUs, the head. C: 1 GPU, 50 s, submitted at 0.
    # At 0 the shadow time is 10: C (ends at 50000) may not start. At 10 A overruns: its end is guessed
    # 10 + max(60000, 1) = 60010; that pass starts C (10 + 50000 <= 60010).
    jobs = [Job(0, 1, 200_000, estimate_ms=10), Job(0, 2, 5), Job(0, 1, 50_000)]
    schedule = simulate([Node(2)], jobs, "easy")
    assert starts(schedule) == [0, 200_000, 10]


def test_easy_overruns_again_by_a_tenth_of_what_has_elapsed() -> None:
    # A: told 600 000, truly 2 000 000. Overrun at 600 000: + max(60 000, 60 000) = 660 000; then
    # ceil(660 000 / 10) = 66 000: 726 000. C (1 GPU, 62 000, submitted at 600 001): at 600 001 it would end
    # 662 001 > 660 000; at 660 000: 722 000 <= 726 000, it starts.
    jobs = [Job(0, 1, 2_000_000, estimate_ms=600_000), Job(0, 2, 5), Job(600_001, 1, 62_000)]
    schedule = simulate([Node(2)], jobs, "easy")
    assert starts(schedule) == [0, 2_000_000, 660_000]


def test_easy_job_that_ends_early_frees_the_head_early() -> None:
    # A told 100, truly 4: the head B starts at 4.
    schedule = simulate([Node(2)], [Job(0, 2, 4, estimate_ms=100), Job(0, 2, 5)], "easy")
    assert starts(schedule) == [0, 4]


def test_easy_counts_the_start_overhead_of_a_starting_job() -> None:
    # start_s = 3 ms. A (1 GPU, 10 ms) is to end at 13, so the shadow is 13; C (told 11) would end at 14 and must
    # not backfill,
    # D (told 10) ends at 13 and may.
    jobs = [Job(0, 1, 10), Job(0, 2, 5), Job(0, 1, 11), Job(0, 1, 10)]
    schedule = simulate([Node(2)], jobs, "easy", overheads={"start_s": 0.003})
    assert starts(schedule) == [0, 13, 21, 0]
    assert schedule.end_ms == [13, 21, 35, 13]


def test_easy_head_of_a_full_queue_is_no_head() -> None:
    # q is limited to 1 GPU: B (q) closes it and reserves nothing, so C (1 GPU, 99 ms) starts at once.
    jobs = [Job(0, 1, 10, queue="q"), Job(0, 1, 5, queue="q"), Job(0, 1, 99)]
    schedule = simulate([Node(2)], jobs, "easy", queue_limits={"q": 1})
    assert starts(schedule) == [0, 10, 0]


def test_easy_without_a_possible_reservation_lets_everybody_backfill() -> None:
    # n1 is down from 0: B of 4 (two nodes) cannot be placed on paper, so C (100 ms) runs. n1 is up at 7.
    # n0 AAAAA...: A 0-5 (1 GPU), C 0-100 (1 GPU); B waits for n0 whole: 100.
    jobs = [Job(0, 1, 5), Job(0, 4, 5), Job(0, 1, 100)]
    schedule = simulate([Node(2), Node(2)], jobs, "easy", script=[(0, "NODE_DOWN", 1), (7, "NODE_UP", 1)])
    assert starts(schedule) == [0, 100, 0]


# -- the cut -------------------------------------------------------------------------------------------


def test_until_cuts_the_run_and_books_what_runs() -> None:
    # One GPU, A 0-5, B from 5, cut at 7: B has run 2 ms.
    schedule = simulate([Node(1)], [Job(0, 1, 5), Job(0, 1, 5), Job(9, 1, 1)], "fifo", until_ms=7)
    assert schedule.end_ms == [5, None, None]
    assert schedule.run_ms == [5, 2, 0]
    assert schedule.held_gpu_ms == [5, 2, 0]
