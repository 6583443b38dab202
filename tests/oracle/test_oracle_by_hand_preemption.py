"""Preemption, overheads, failures, levels and rounds: schedules worked out on paper from semantics.md.

Drawings as in test_oracle_by_hand.py: one line per GPU, one letter per ms; small letters are STARTING or STOPPING.
"""

import pytest

from . import Job, Node, Schedule, simulate

ONE_GPU = [Node(1)]


def starts(schedule: Schedule) -> list[int | None]:
    return schedule.first_start_ms


def actions(schedule: Schedule) -> list[tuple[int, str, int]]:
    return [(time_ms, verb, row) for time_ms, verb, row, _ in schedule.log]


# -- srtf ----------------------------------------------------------------------------------------------


def test_srtf_evicts_the_longer_job() -> None:
    # gpu0 AABBBAAAAAAAA
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, 3)], "srtf")
    assert schedule.log == [
        (0, "START", 0, ((0, 1),)),
        (2, "PREEMPT", 0, ((0, 1),)),
        (2, "START", 1, ((0, 1),)),
        (5, "START", 0, ((0, 1),)),
    ]
    assert schedule.end_ms == [13, 5]
    assert (schedule.run_ms, schedule.preemptions) == ([10, 3], [1, 0])


@pytest.mark.parametrize(("work_ms", "margin_s", "start_ms"), [(7, 0, 2), (8, 0, 10), (3, 0.005, 10), (2, 0.005, 2)])
def test_srtf_evicts_only_beyond_the_margin(work_ms: int, margin_s: float, start_ms: int) -> None:
    # At 2, A has 8 left. 8 > 7 evicts, 8 > 8 does not; with a margin of 5: 8 > 3 + 5 does not, 8 > 2 + 5 does.
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, work_ms)], "srtf", params={"margin_s": margin_s})
    assert starts(schedule)[1] == start_ms


def test_srtf_released_victim_whose_gpus_are_not_needed_runs_on() -> None:
    # n0 (1 GPU)  AAAAAA...      A (100 ms) is the worst and is released first, but C needs two GPUs of one node.
    # n1 (2 GPUs) BCCCCCBBB      B (50 ms) makes way, A keeps its GPU.
    schedule = simulate([Node(1), Node(2)], [Job(0, 1, 100), Job(0, 2, 50), Job(1, 2, 5)], "srtf")
    assert actions(schedule)[2:] == [(1, "PREEMPT", 1), (1, "START", 2), (6, "START", 1)]
    assert schedule.end_ms == [100, 55, 6]
    assert schedule.preemptions == [0, 1, 0]


def test_srtf_evicts_nobody_if_that_is_not_enough() -> None:
    # gpu0 AACCCCCA...   At 1, C (2 GPUs, 5 ms) could evict A but not B (1 ms left): undone.
    # gpu1 BBCCCCC....   At 2, B is gone: A makes way and has 98 ms left at 7.
    schedule = simulate([Node(2)], [Job(0, 1, 100), Job(0, 1, 2), Job(1, 2, 5)], "srtf")
    assert actions(schedule)[2:] == [(2, "PREEMPT", 0), (2, "START", 2), (7, "START", 0)]
    assert schedule.end_ms == [105, 2, 7]


def test_srtf_priority_comes_before_remaining_time() -> None:
    # gpu0 ABBBB...A: B is longer but of higher priority; A's last ms is at 101.
    schedule = simulate(ONE_GPU, [Job(0, 1, 2), Job(1, 1, 100, priority=1)], "srtf")
    assert schedule.end_ms == [102, 101]
    # The shorter job of lower priority waits.
    schedule = simulate(ONE_GPU, [Job(0, 1, 100, priority=1), Job(1, 1, 1)], "srtf")
    assert starts(schedule) == [0, 100]


def test_srtf_victim_is_of_lowest_priority_then_longest_then_highest_row() -> None:
    # B is longer, but A has the lower priority.
    jobs = [Job(0, 1, 20), Job(0, 1, 90, priority=1), Job(1, 1, 5, priority=2)]
    assert simulate([Node(2)], jobs, "srtf").preemptions == [1, 0, 0]
    jobs = [Job(0, 1, 21), Job(0, 1, 20), Job(1, 1, 5)]
    assert simulate([Node(2)], jobs, "srtf").preemptions == [1, 0, 0]
    jobs = [Job(0, 1, 20), Job(0, 1, 20), Job(1, 1, 5)]
    assert simulate([Node(2)], jobs, "srtf").preemptions == [0, 1, 0]


def test_srtf_works_on_estimates_that_may_go_below_zero() -> None:
    # A is told 3 and takes 20: at 10 its remaining is -7, so B (told 5) waits.
    schedule = simulate(ONE_GPU, [Job(0, 1, 20, estimate_ms=3), Job(10, 1, 1, estimate_ms=5)], "srtf")
    assert starts(schedule) == [0, 20]


def test_srtf_victim_is_started_elsewhere_in_the_same_pass() -> None:
    # First fit. n0 (2 GPUs) A then CCC from 1 on; n1 (1 GPU): A moves there in the pass of 1 and ends at 10.
    schedule = simulate([Node(2), Node(1)], [Job(0, 1, 10), Job(1, 2, 3)], "srtf", placement="first-fit")
    assert schedule.log[1:] == [
        (1, "PREEMPT", 0, ((0, 1),)),
        (1, "START", 1, ((0, 3),)),
        (1, "START", 0, ((1, 1),)),
    ]
    assert schedule.end_ms == [10, 4]


def test_queue_comes_before_eviction() -> None:
    # q is limited to 1 GPU, held by A: B of q closes the queue and evicts nobody.
    jobs = [Job(0, 1, 10, queue="q"), Job(1, 1, 2, queue="q")]
    assert starts(simulate([Node(2)], jobs, "srtf", queue_limits={"q": 1})) == [0, 10]


# -- overheads (section 5) -----------------------------------------------------------------------------


@pytest.mark.parametrize(("lost_s", "lost_ms", "end_ms"), [(0.001, 1, 14), (0.005, 2, 15)])
def test_preempted_job_loses_at_most_the_work_it_has_done(lost_s: float, lost_ms: int, end_ms: int) -> None:
    # gpu0 AABBBA...: A has done 2 ms when it is evicted, and 10 - 2 + lost are left at 5.
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, 3)], "srtf", overheads={"lost_s": lost_s})
    assert schedule.lost_ms == [lost_ms, 0]
    assert schedule.end_ms == [end_ms, 5]


def test_start_and_restore() -> None:
    # start 1, restore 2.   0         1
    #                       012345678901234567
    # gpu0                  aAAAbBBBaaaAAAAAAA
    overheads = {"start_s": 0.001, "restore_s": 0.002}
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(4, 1, 3)], "srtf", overheads=overheads)
    assert schedule.end_ms == [18, 8]
    assert schedule.run_ms == [10, 3]
    assert schedule.held_gpu_ms == [14, 4]


def test_restore_without_start() -> None:
    # gpu0 AABBBaaAAAAAAAA: the first start is at once, the second takes 2 ms.
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, 3)], "srtf", overheads={"restore_s": 0.002})
    assert schedule.end_ms == [15, 5]


def test_starting_job_cannot_be_preempted() -> None:
    # gpu0 aaaaabbbbbBaaaaaAAAAAAAAAA: B (1 ms) comes at 2, A begins to run at 5 and is evicted there.
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, 1)], "srtf", overheads={"start_s": 0.005})
    assert actions(schedule) == [(0, "START", 0), (5, "PREEMPT", 0), (5, "START", 1), (11, "START", 0)]
    assert schedule.end_ms == [26, 11]


def test_stop_hands_over_when_the_victim_has_stopped() -> None:
    # gpu0 AAaaBBBAAAAAAAA
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, 3)], "srtf", overheads={"stop_s": 0.002})
    assert actions(schedule) == [(0, "START", 0), (2, "PREEMPT", 0), (4, "START", 1), (7, "START", 0)]
    assert schedule.end_ms == [15, 7]
    assert schedule.held_gpu_ms == [12, 3]


def test_claimed_place_is_nobody_elses() -> None:
    # stop 2.  01234567890123456789
    # gpu0     AAaaBBBCCCCCDDDDD...   B (2 GPUs, 3 ms) evicts A at 2 and claims both GPUs, gpu1 too, so that C (5 ms)
    # gpu1     ....BBBAAAAAAAA        does not start at 2, nor D (100 ms) at its submit at 3.
    jobs = [Job(0, 1, 10), Job(2, 2, 3), Job(2, 1, 5), Job(3, 1, 100)]
    schedule = simulate([Node(2)], jobs, "srtf", overheads={"stop_s": 0.002})
    assert starts(schedule) == [0, 4, 7, 12]
    assert schedule.end_ms == [15, 7, 12, 112]


def test_a_job_ahead_takes_what_is_idle_of_a_claim() -> None:
    # As above, but C (1 ms) comes at 3 and is first in order: it takes gpu1, and the claim of B ends.
    # gpu0 AAaaBBBAAAAAAAA
    # gpu1 ...CBBB
    jobs = [Job(0, 1, 10), Job(2, 2, 3), Job(3, 1, 1)]
    schedule = simulate([Node(2)], jobs, "srtf", overheads={"stop_s": 0.002})
    assert starts(schedule) == [0, 4, 3]
    assert schedule.preemptions == [1, 0, 0]


def test_stopping_gpus_are_used_before_another_victim() -> None:
    # stop 2.  01234567890123
    # gpu0     AAaaDDBBBBBBB    At 2 C (3 ms) evicts A (worst). At 3 D (2 ms) claims gpu0, which A is leaving; C, next,
    # gpu1     BBBbbCCCAAAA...  evicts B (7 left) and gets gpu1 at 5. B has 7 left at 6, A 18 at 8.
    jobs = [Job(0, 1, 20), Job(0, 1, 10), Job(2, 1, 3), Job(3, 1, 2)]
    schedule = simulate([Node(2)], jobs, "srtf", overheads={"stop_s": 0.002})
    assert actions(schedule)[2:] == [
        (2, "PREEMPT", 0),
        (3, "PREEMPT", 1),
        (4, "START", 3),
        (5, "START", 2),
        (6, "START", 1),
        (8, "START", 0),
    ]
    assert schedule.end_ms == [26, 13, 8, 6]


def test_a_job_behind_gets_nothing_of_a_claim() -> None:
    # stop 3.  0123456789
    # gpu0     AAaaaBBBAA   B (3 ms) evicts A at 2. C (5 ms) comes at 3, when gpu0 is idle no more than claimed.
    jobs = [Job(0, 1, 10), Job(2, 1, 3), Job(3, 1, 5)]
    schedule = simulate(ONE_GPU, jobs, "srtf", overheads={"stop_s": 0.003})
    assert (starts(schedule), schedule.preemptions) == ([0, 5, 8], [1, 0, 0])


def test_a_job_ahead_takes_over_a_claim_without_a_second_preemption() -> None:
    # stop 4, start 2.  0         1
    #                   0123456789012345678
    # gpu0              aaAAaaaaccCbbBBBBB   B (5 ms) evicts A at 4, C (1 ms) comes at 5. Claims that lasted whatever
    #                                        came would start B at 8, only for C to evict it at 10.
    jobs = [Job(0, 1, 20), Job(4, 1, 5), Job(5, 1, 1)]
    schedule = simulate(ONE_GPU, jobs, "srtf", overheads={"stop_s": 0.004, "start_s": 0.002})
    assert starts(schedule) == [0, 11, 8]
    assert schedule.preemptions == [1, 0, 0]


def test_a_job_with_a_claim_starts_on_what_comes_free_before() -> None:
    # stop 4.  0123456789
    # gpu0     AAaaaaCCCC   B (5 ms) evicts A at 2 and claims gpu0. D ends on gpu1 at 3, so B starts there, ahead of
    # gpu1     DDDBBBBB     C (9 ms, since 2); C gets gpu0 at 6.
    jobs = [Job(0, 1, 20), Job(0, 1, 3), Job(2, 1, 5), Job(2, 1, 9)]
    schedule = simulate([Node(1), Node(1)], jobs, "srtf", overheads={"stop_s": 0.004})
    assert starts(schedule) == [0, 0, 3, 6]


def test_a_claim_ends_with_its_node() -> None:
    # stop 4.      0123456789
    # n0 (2 GPUs)  CCCCccccBB   B (2 GPUs) evicts A, the worst, at 2 and claims n1, which goes down at 4. So it evicts
    # n1 (2 GPUs)  AAaa------   C, too.
    jobs = [Job(0, 2, 90), Job(0, 2, 80), Job(2, 2, 5)]
    script = [(4, "NODE_DOWN", 1), (99, "NODE_UP", 1)]
    schedule = simulate([Node(2), Node(2)], jobs, "srtf", overheads={"stop_s": 0.004}, script=script)
    assert actions(schedule)[2:5] == [(2, "PREEMPT", 0), (4, "PREEMPT", 1), (8, "START", 2)]


def test_a_claim_ends_with_its_job() -> None:
    # stop 4.  0123456789
    # gpu0     AAaaaaCCCC   B (2 GPUs) evicts A at 2 and claims both. It is cancelled at 3: C (99 ms) gets gpu1 at once,
    # gpu1     ...CCCCCCC   and A comes back at 6.
    jobs = [Job(0, 1, 20), Job(2, 2, 5), Job(2, 1, 99)]
    schedule = simulate([Node(2)], jobs, "srtf", overheads={"stop_s": 0.004}, script=[(3, "CANCEL", 1)])
    assert actions(schedule) == [(0, "START", 0), (2, "PREEMPT", 0), (3, "START", 2), (6, "START", 0)]


def test_claimed_gpus_count_for_the_limit_of_the_queue() -> None:
    # stop 4, q may hold 2.  B (q) evicts A at 2 and claims gpu0; with C (q, running on gpu1) that is all of q's limit:
    # D (q), which comes at 3, starts only when C ends at 9, though gpu2 is free.
    jobs = [Job(0, 1, 50), Job(0, 1, 9, queue="q"), Job(2, 1, 5, queue="q"), Job(3, 1, 6, queue="q")]
    jobs = [Job(0, 1, 49), *jobs]
    schedule = simulate([Node(3)], jobs, "srtf", overheads={"stop_s": 0.004}, queue_limits={"q": 2})
    assert starts(schedule)[3:] == [6, 9]


# -- nodes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("every_s", "lost_ms", "end_ms"), [(0, 0, 12), (0.003, 1, 13)])
def test_node_down_loses_the_work_since_the_last_checkpoint(every_s: float, lost_ms: int, end_ms: int) -> None:
    # n0 AAAA--AAAAAA: down from 4 to 6; 4 mod 3 = 1 ms is lost.
    script = [(4, "NODE_DOWN", 0), (6, "NODE_UP", 0)]
    overheads = {"checkpoint_every_s": every_s}
    schedule = simulate(ONE_GPU, [Job(0, 1, 10)], "fifo", overheads=overheads, script=script)
    assert (schedule.lost_ms, schedule.end_ms, schedule.preemptions) == ([lost_ms], [end_ms], [0])


def test_node_down_frees_the_gangs_gpus_on_other_nodes() -> None:
    # n0 AAA------AAAAAAA   B (2 GPUs) takes n1 at 3; A needs both nodes and restarts when n0 is up at 9.
    # n1 AAABBBBB.AAAAAAA
    script = [(3, "NODE_DOWN", 0), (9, "NODE_UP", 0)]
    schedule = simulate([Node(2), Node(2)], [Job(0, 4, 10), Job(1, 2, 5)], "fifo-backfill", script=script)
    assert starts(schedule) == [0, 3]
    assert schedule.end_ms == [16, 8]
    assert schedule.held_gpu_ms == [40, 10]


def test_drained_node_finishes_its_job_and_takes_no_other() -> None:
    # n0 AAAAAAAAAA  DDD   drained at 2, up at 12
    # n1 ...BBBBBCCCC...
    jobs = [Job(0, 1, 10), Job(3, 1, 5), Job(3, 1, 12), Job(10, 1, 3)]
    script = [(2, "NODE_DRAIN", 0), (12, "NODE_UP", 0)]
    schedule = simulate([Node(1), Node(1)], jobs, "fifo", script=script)
    assert schedule.end_ms == [10, 8, 20, 15]


def test_finish_comes_before_the_node_goes_down() -> None:
    schedule = simulate(ONE_GPU, [Job(0, 1, 4)], "fifo", script=[(4, "NODE_DOWN", 0)])
    assert schedule.end_ms == [4]


def test_job_that_failed_before_it_ever_ran_has_nothing_to_restore() -> None:
    # start 5, restore 7. Down at 3 while A is STARTING, up at 4: A starts again, runs from 9.
    script = [(3, "NODE_DOWN", 0), (4, "NODE_UP", 0)]
    overheads = {"start_s": 0.005, "restore_s": 0.007}
    assert simulate(ONE_GPU, [Job(0, 1, 2)], "fifo", overheads=overheads, script=script).end_ms == [11]
    # Down at 6, after 1 ms of running: it starts again at 7, runs from 7 + 12 for the last ms.
    script = [(6, "NODE_DOWN", 0), (7, "NODE_UP", 0)]
    assert simulate(ONE_GPU, [Job(0, 1, 2)], "fifo", overheads=overheads, script=script).end_ms == [20]


def test_stopping_job_is_pending_at_once_when_its_node_goes_down() -> None:
    # stop 5.  AAaa-BBBAAAAAAAA   A would have stopped at 7; down at 4, up at 5.
    script = [(4, "NODE_DOWN", 0), (5, "NODE_UP", 0)]
    jobs = [Job(0, 1, 10), Job(2, 1, 3)]
    schedule = simulate(ONE_GPU, jobs, "srtf", overheads={"stop_s": 0.005}, script=script)
    assert schedule.end_ms == [16, 8]


# -- tiresias and las ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("threshold_gpu_s", "start_ms"), [(0.006, 3), (0.007, 4)])
def test_tiresias_demotes_at_the_ceiling(threshold_gpu_s: float, start_ms: int) -> None:
    # A on 2 GPUs reaches 6 GPU-ms at 3 and 7 GPU-ms at ceil(3.5) = 4; B, waiting since 1, takes its place then.
    jobs = [Job(0, 2, 10), Job(1, 2, 2)]
    schedule = simulate([Node(2)], jobs, "tiresias", params={"thresholds_gpu_s": [threshold_gpu_s]})
    assert starts(schedule) == [0, start_ms]
    assert schedule.end_ms == [12, start_ms + 2]


def test_tiresias_two_levels_with_the_default_thresholds() -> None:
    # A (10 000 s) sinks to level 1 at 3250 s, B (5000 s) takes over, sinks at 6500 s and, level with A, ends at 8250 s.
    schedule = simulate(ONE_GPU, [Job(0, 1, 10_000_000), Job(1000, 1, 5_000_000)], "tiresias")
    assert starts(schedule) == [0, 3_250_000]
    assert schedule.end_ms == [15_000_000, 8_250_000]


def test_tiresias_serves_the_lower_level_before_the_lower_row() -> None:
    # gpu0 AAABBCCAAAAAAA: threshold 3. At 5 C (level 0) goes before A (level 1).
    jobs = [Job(0, 1, 10), Job(1, 1, 2), Job(4, 1, 2)]
    schedule = simulate(ONE_GPU, jobs, "tiresias", params={"thresholds_gpu_s": [0.003]})
    assert schedule.end_ms == [14, 5, 7]


def test_tiresias_victim_is_of_the_greatest_level() -> None:
    # Thresholds 2 and 4 GPU-ms, 3 GPUs. At 2, A (2 GPUs) has 4: level 2; B has 2: level 1. C (submitted at 2, 1 GPU)
    # evicts A, the worse, and A (2 GPUs) waits for C and then evicts nobody: B has 3 and then 4 GPU-ms, level 2.
    # gpu0 AACC.AA...
    # gpu1 AA...         A needs 2 GPUs: at 4 C is done, gpus 0 and 1 are free.
    # gpu2 BBBBBB...
    jobs = [Job(0, 2, 10), Job(0, 1, 20), Job(2, 1, 2)]
    schedule = simulate([Node(3)], jobs, "tiresias", params={"thresholds_gpu_s": [0.002, 0.004]})
    assert actions(schedule)[2:] == [(2, "PREEMPT", 0), (2, "START", 2), (4, "START", 0)]
    assert schedule.end_ms == [12, 20, 4]


def test_las_has_one_threshold_of_28800_gpu_seconds() -> None:
    schedule = simulate(ONE_GPU, [Job(0, 1, 40_000_000), Job(1000, 1, 10_000)], "las")
    assert schedule.end_ms == [40_010_000, 28_810_000]


def test_promotion_starts_the_count_of_service_again() -> None:
    # Threshold 3, knob 2. 0         1         2
    #                      012345678901234567890
    # gpu0                 AAABBBBBBAAACAAAABBBB
    # A sinks at 3, B takes over and sinks at 6. A has executed 3: promoted at 3 + 2 * 3 = 9, it evicts B.
    # C (1 ms) comes at 10 and waits until A sinks again at 12. At 13 A and B are of level 1: A by row.
    # B has executed 6 when it is evicted at 9: its promotion is due at 21, when it has just ended.
    jobs = [Job(0, 1, 10), Job(1, 1, 10), Job(10, 1, 1)]
    params = {"thresholds_gpu_s": [0.003], "promote_knob": 2}
    schedule = simulate(ONE_GPU, jobs, "tiresias", params=params)
    assert actions(schedule) == [
        (0, "START", 0),
        (3, "PREEMPT", 0),
        (3, "START", 1),
        (9, "PREEMPT", 1),
        (9, "START", 0),
        (12, "PREEMPT", 0),
        (12, "START", 2),
        (13, "START", 0),
        (17, "START", 1),
    ]
    assert schedule.end_ms == [17, 21, 13]


# -- rounds --------------------------------------------------------------------------------------------


def test_rounds_decide_on_the_grid_only() -> None:
    # Rounds of 10. gpu0 AAAA......BBBB......CC: A ends at 4, exactly, but B starts at 10; C, submitted at 20, at once.
    schedule = simulate(ONE_GPU, [Job(0, 1, 4), Job(0, 1, 4), Job(20, 1, 2)], "fifo", round_ms=10)
    assert starts(schedule) == [0, 10, 20]
    assert schedule.end_ms == [4, 14, 22]


def test_rounds_zero_work_on_the_grid_gets_another_pass() -> None:
    schedule = simulate(ONE_GPU, [Job(0, 1, 0), Job(3, 1, 0), Job(4, 1, 5)], "fifo", round_ms=10)
    assert schedule.end_ms == [0, 10, 15]


def test_rounds_of_srtf_evict_on_the_grid() -> None:
    # Rounds of 5. gpu0 AAAAABBB..AAAAA: at 5 A has 5 left, B (since 2) 3.
    schedule = simulate(ONE_GPU, [Job(0, 1, 10), Job(2, 1, 3)], "srtf", round_ms=5)
    assert schedule.end_ms == [15, 8]


def test_rounds_of_easy_reestimate_off_the_grid() -> None:
    # Rounds of 100 ms. A is told 10 and overruns at 10: its end is now 60 010. The pass at 100 starts C
    # (100 + 59 910 <= 60 010). With one ms more it fails there, and again by one ms after the overruns of
    # 60 010, 120 010 and 180 010; so C stands behind the head: B from 200 000 to 200 005, C at 200 100.
    for work_ms, start_ms in ((59_910, 100), (59_911, 200_100)):
        jobs = [Job(0, 1, 200_000, estimate_ms=10), Job(0, 2, 5), Job(0, 1, work_ms)]
        schedule = simulate([Node(2)], jobs, "easy", round_ms=100)
        assert [schedule.first_start_ms[row] for row in (0, 2)] == [0, start_ms]


# -- readings the page once left open --------------------------------------------------------------------


def test_zero_work_that_begins_by_an_event_ends_before_the_pass_of_that_event() -> None:
    # start 3. A (no work) is STARTED at 3 and FINISHes at 3 too, before the pass: B, submitted at 3 with 2
    # GPUs, starts,
    # and C waits for its end at 3 + 3 + 1.
    jobs = [Job(0, 1, 0), Job(3, 2, 1), Job(3, 1, 1)]
    schedule = simulate([Node(2)], jobs, "fifo-backfill", overheads={"start_s": 0.003})
    assert actions(schedule) == [(0, "START", 0), (3, "START", 1), (7, "START", 2)]


def test_largest_node_counts_while_it_is_down() -> None:
    # n0 (4 GPUs) is down to 9: a gang of 4 fits on n0 by its size, and is not cut into n1 + n2 meanwhile.
    script = [(0, "NODE_DOWN", 0), (9, "NODE_UP", 0)]
    assert starts(simulate([Node(4), Node(2), Node(2)], [Job(0, 4, 1)], "fifo", script=script)) == [9]


def test_easy_restarted_job_with_a_used_up_estimate_overruns_at_once() -> None:
    # n0 (1 GPU, of partition p): A, told 5, truly 100 000, fails at 8 with 8 ms done and starts again at 9. -3 is left
    # of its estimate: on paper it ended at 6, the shadow time of the head B (both nodes), and C (n1) may not start.
    # 9 happens again with A's overrun: its end is now 60 009, and C starts, if 9 + its work is not beyond that.
    # Otherwise it misses by one ms again at 60 009 (120 009) and goes after B: A ends at 100 001, B at 100 006.
    nodes = [Node(1, partitions=("p",)), Node(1)]
    script = [(8, "NODE_DOWN", 0), (9, "NODE_UP", 0)]
    for work_ms, start_ms in ((60_000, 9), (60_001, 100_006)):
        jobs = [Job(0, 1, 100_000, estimate_ms=5, partition="p"), Job(9, 2, 5), Job(9, 1, work_ms)]
        assert starts(simulate(nodes, jobs, "easy", script=script)) == [0, 100_001, start_ms]
