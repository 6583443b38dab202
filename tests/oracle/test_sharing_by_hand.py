"""Section 10, the world: jobs on one GPU, their memory and their speed, worked out on paper.

Drawings: one line per GPU and place on it, one letter per ms. The models, on a GPU of 100 bytes, 4 samples each:

* ``light`` takes 40 bytes. Accumulation costs it nothing: c(s) = 1 · 4/s seconds, so t(s) = s · c(s) = 4.
* ``heavy`` takes 20 + 10 · 4/s bytes: 60, 40, 30 at s = 1, 2, 4. c(s) = 1 + 1 · 4/s, so t(s) = s + 4 = 5, 6, 8:
  stretch 1, 1.2, 1.6.
* ``ring`` takes 10 bytes, computes for 3 s and sends for 4 s between two nodes: 5 s with δ = 2, on one node 3 s.
"""

from collections.abc import Callable, Sequence

import pytest

from .model import Gpu, Job, Node
from .sharing import SharedSchedule, SharingWorld, simulate
from .speeds import Compute, Link, Model, Speeds

INSTANT, NIC = Link(1e30, 0.0), Link(1.0, 0.0)
MODELS = {
    "light": Model({"": Compute(0, 1)}, 4, 40, 0),
    "heavy": Model({"": Compute(1, 1)}, 4, 20, 10),
    "ring": Model({"": Compute(3, 0)}, 4, 10, 0, gradient_bytes=4),
}
Start = tuple[int, int, list[Gpu], int]
"""(ms, row, GPUs, steps)"""
G0, G1, G2 = (0, 0), (0, 1), (0, 2)


def ground(*gpus: int, xi: float | Callable[[str, str], float] = 2.0) -> Speeds:
    """One rack of nodes with so many GPUs."""
    return Speeds(
        nodes=tuple(Node(many) for many in gpus),
        memory={"": 100},
        models=MODELS,
        networks={"": (INSTANT, INSTANT, NIC, NIC, NIC)},
        xi=lambda gpu_type, a, b: xi(a, b) if callable(xi) else xi,
    )


def run(
    speeds: Speeds, jobs: Sequence[Job], starts: Sequence[Start], sharing: int = 2, **others: object
) -> SharedSchedule:
    """Each start at its time (there must be a pass then)."""
    left = list(starts)

    def decide(world: SharingWorld) -> None:
        while left and left[0][0] == world.now:
            _, row, gpus, steps = left.pop(0)
            world.start(world.lives[row], frozenset(gpus), steps)

    schedule = simulate(speeds, jobs, decide, sharing=sharing, **others)  # ty: ignore[invalid-argument-type]
    assert not left
    return schedule


def light(submit_ms: int, gpus: int, work_ms: int) -> Job:
    return Job(submit_ms, gpus, work_ms, model="light")


def heavy(submit_ms: int, gpus: int, work_ms: int) -> Job:
    return Job(submit_ms, gpus, work_ms, model="heavy")


# -- speed ---------------------------------------------------------------------------------------------


def test_two_on_a_gpu() -> None:
    # xi 2: each at half speed. B of 6 ends at 12; A of 10 has done 6 by then and ends 4 later.
    # gpu0 AAAAAAAAAAAA AAAA
    #      BBBBBBBBBBBB
    schedule = run(ground(1), [light(0, 1, 10), light(0, 1, 6)], [(0, 0, [G0], 1), (0, 1, [G0], 1)])
    assert schedule.end_ms == [16, 12]
    assert schedule.run_ms == [16, 12]


def test_each_is_slowed_by_the_other_in_its_own_way() -> None:
    # xi(light | heavy) = 4/3 -> 0.75, xi(heavy | light) = 2 -> 0.5. A of 9 ends at 12; B has done 6 of 9 by then: 15.
    def xi(a: str, b: str) -> float:
        return {"light": 4 / 3, "heavy": 2.0}[a]

    schedule = run(ground(1, xi=xi), [light(0, 1, 9), heavy(0, 1, 9)], [(0, 0, [G0], 1), (0, 1, [G0], 1)])
    assert schedule.end_ms == [12, 15]


def test_who_joins_later_slows_from_then_on() -> None:
    # gpu0 AAAA AAAAAAAA AA     A of 10: 4 alone, 4 in the 8 ms beside B, 2 alone: 14.
    #      .... BBBBBBBB
    schedule = run(ground(1), [light(0, 1, 10), light(4, 1, 4)], [(0, 0, [G0], 1), (4, 1, [G0], 1)])
    assert schedule.end_ms == [14, 12]


def test_three_on_a_gpu_slow_each_other_by_the_product() -> None:
    # xi 2: three at 1/4, two at 1/2. Memory 10 each (ring on one GPU).
    # gpu0 AAAAAAAA AAAA AAAA    A of 8: 2 by 8, 2 more by 12, the last 4 alone: 16.
    #      BBBBBBBB BBBB         B of 4: 2 by 8, 2 more by 12.
    #      CCCCCCCC              C of 2 ends at 8.
    jobs = [Job(0, 1, work, model="ring") for work in (8, 4, 2)]
    schedule = run(ground(1), jobs, [(0, row, [G0], 1) for row in range(3)], sharing=3)
    assert schedule.end_ms == [16, 12, 8]


def test_a_gang_feels_its_slowest_gpu() -> None:
    # gpu0 A B     xi 2: A has one neighbour on gpu0 and two on gpu1: 1/4. B has A: 1/2. C and D two each: 1/4.
    # gpu1 A C D   C of 1 and D of 2: C ends at 4. D has done 1 by then, goes on at 1/2: 6. B of 4: 8.
    #              A of 5: 1 by 4; 1/2 (gpu0: B; gpu1: D, then nobody) to 8: 3; then 2 more: 10.
    jobs = [Job(0, gpus, work, model="ring") for gpus, work in ((2, 5), (1, 4), (1, 1), (1, 2))]
    starts = [(0, 0, [G0, G1], 1), (0, 1, [G0], 1), (0, 2, [G1], 1), (0, 3, [G1], 1)]
    assert run(ground(2), jobs, starts, sharing=3).end_ms == [10, 8, 4, 6]


def test_who_is_starting_slows_nobody_but_takes_memory() -> None:
    # start_s = 3 ms. A starts at 0 and runs from 3; B starts at 5, takes its 60 bytes from then, and runs from 8.
    # gpu0 aaa AAAAA AAAAAAAA AA    A of 11: 5 by 8, 4 by 16 (beside B), 2 more: 18.
    #          . bbb BBBBBBBB       B of 4 at 1/2: 16.
    jobs = [light(0, 1, 11), heavy(5, 1, 4), light(6, 1, 1)]

    def decide(world: SharingWorld) -> None:
        for life in world.having("PENDING"):
            if world.now == 6:
                assert world.free_bytes(G0) == 0
                assert not world.gpu_has_room(world.lives[2], G0)
            if life.row < 2 or not world.on(G0):
                world.start(life, frozenset({G0}))

    schedule = simulate(ground(1), jobs, decide, sharing=3, overheads={"start_s": 0.003})
    assert schedule.first_start_ms == [0, 5, 18]
    assert schedule.end_ms == [18, 16, 22]


def test_a_node_that_goes_down_frees_the_neighbours_elsewhere() -> None:
    # n0 A B, n1 B. n1 goes down at 4: B (all of whose work is kept) waits, A is alone again: 2 by 4, 6 more: 10.
    jobs = [light(0, 1, 8), light(0, 2, 20)]
    starts = [(0, 0, [G0], 1), (0, 1, [G0, (1, 0)], 1)]
    schedule = run(ground(1, 1), jobs, starts, script=[(4, "NODE_DOWN", 1)], until_ms=50)
    assert schedule.end_ms == [10, None]
    assert schedule.run_ms == [10, 4]


def test_work_since_the_last_checkpoint_is_counted_over_changes_of_speed() -> None:
    # A alone to 4 (4 done), beside B to 8 (2 more), alone to 11 (3 more): 9. Checkpoints every 5: it keeps 5 of 9.
    jobs = [light(0, 1, 20), light(4, 1, 2)]
    starts = [(0, 0, [G0], 1), (4, 1, [G0], 1), (20, 0, [G0], 1)]
    script = [(11, "NODE_DOWN", 0), (20, "NODE_UP", 0)]
    schedule = run(ground(1), jobs, starts, script=script, overheads={"checkpoint_every_s": 0.005})
    assert schedule.end_ms == [35, 8]
    assert schedule.lost_ms == [4, 0]


def test_waiting_for_communication() -> None:
    # A ring of 2 on two nodes takes 5 s an iteration, 3 of which it computes; one on a node 3 s, which is rate 1.
    schedule = run(ground(2, 2), [Job(0, 2, 60, model="ring")], [(0, 0, [G0, (1, 0)], 1)])
    assert schedule.end_ms == [101]  # 60 / 0.6, less 1/2^30: a little more than 100 ms
    assert schedule.comm_ms == [pytest.approx(0.4 * 101)]
    assert (schedule.nodes, schedule.locality) == ([2], [2])


def test_accumulation_hides_no_more_than_one_communication() -> None:
    # 3 steps more of 3 s: 3 · 3 + 5 = 14 s an iteration (alpha only: every step costs 3 s), 12 of which it computes.
    schedule = run(ground(2, 2), [Job(0, 2, 30, model="ring")], [(0, 0, [G0, (1, 0)], 4)])
    assert schedule.end_ms == [140]
    assert schedule.comm_ms == [pytest.approx(2 / 14 * 140)]


# -- memory and accumulation ---------------------------------------------------------------------------


def test_memory_of_the_steps() -> None:
    speeds = ground(1)
    assert [speeds.takes_bytes(heavy(0, 1, 1), s, "") for s in (1, 2, 4)] == [60, 40, 30]
    assert speeds.steps(heavy(0, 1, 1)) == [1, 2, 4]
    three = Job(0, 1, 1, model="heavy", samples=3)
    assert speeds.steps(three) == [1, 2]
    assert [speeds.takes_bytes(three, s, "") for s in (1, 2)] == [50, 40]
    assert len(speeds.steps(Job(0, 1, 1, model="heavy", samples=10_000))) == 12
    assert speeds.takes_bytes(Job(0, 1, 1, model="heavy", samples=9), 1, "") == 100  # wants 110
    assert speeds.takes_bytes(Job(0, 1, 1), 1, "") == 100  # a job whose model is not known takes all


def test_two_heavy_jobs_fit_if_one_accumulates() -> None:
    # 60 + 40 = 100 bytes. A at 1/2: 10 ms of work would take 20. B at 1 / (1.2 · 2): 5 ms of work take 12.
    # By then A has done 6; the other 4 it does alone: 16.
    schedule = run(ground(1), [heavy(0, 1, 10), heavy(0, 1, 5)], [(0, 0, [G0], 1), (0, 1, [G0], 2)])
    assert schedule.end_ms == [pytest.approx(16, abs=1), pytest.approx(12, abs=1)]
    assert [entry[4] for entry in schedule.log] == [1, 2]


def test_a_start_that_does_not_fit_is_no_start() -> None:
    with pytest.raises(AssertionError):
        run(ground(1), [heavy(0, 1, 10), heavy(0, 1, 5)], [(0, 0, [G0], 1), (0, 1, [G0], 1)])
    with pytest.raises(AssertionError):  # nor is one beyond K
        run(ground(1), [light(0, 1, 10)] * 2, [(0, 0, [G0], 1), (0, 1, [G0], 1)], sharing=1)


# -- fractions -----------------------------------------------------------------------------------------


def part(submit_ms: int, milli: int, work_ms: int = 10) -> Job:
    return Job(submit_ms, 1, work_ms, milli=milli)


def gpus_of(schedule: SharedSchedule) -> list[tuple[int, int]]:
    """(node, GPU) by row, of jobs of one GPU."""
    place = {entry[2]: entry[3][0] for entry in schedule.log if entry[1] == "START"}
    return [(place[row][0], place[row][1].bit_length() - 1) for row in sorted(place)]


def test_fractions_fill_the_gpu_with_least_left() -> None:
    # gpu0 .5 + .5   gpu1 .3: a fifth of .2 goes to gpu1 (.7 left), for gpu0 is full; none is slowed.
    schedule = simulate(ground(3), [part(0, m) for m in (500, 500, 300, 200)], "fifo", sharing=3)
    assert gpus_of(schedule) == [G0, G0, G1, G1]
    assert schedule.end_ms == [10] * 4
    # .6 on gpu0, .5 on gpu1 (only .4 left on gpu0): .4 fits both and takes gpu0, where least is left.
    schedule = simulate(ground(3), [part(0, m) for m in (600, 500, 400)], "fifo", sharing=3)
    assert gpus_of(schedule) == [G0, G1, G0]


def test_no_more_than_k_fractions_on_a_gpu() -> None:
    assert gpus_of(simulate(ground(2), [part(0, 100)] * 4, "fifo", sharing=3)) == [G0, G0, G0, G1]
    assert gpus_of(simulate(ground(2), [part(0, 100)] * 2, "fifo", sharing=1)) == [G0, G1]


@pytest.mark.parametrize("policy", ["fifo", "sjf-bsbf", "sjf-ffs", "sjf-bsbf-consolidated"])
def test_fractions_and_whole_jobs_keep_off_each_other(policy: str) -> None:
    # gpu0 A (.3), and C (.3) joins it: B, a whole job, is on gpu1. D, another, waits for B or (sjf-ffs) joins it.
    jobs = [part(0, 300, 20), light(0, 1, 21), part(0, 300, 30), light(0, 1, 31)]
    schedule = simulate(ground(2, xi=5.0), jobs, policy, sharing=2)
    assert gpus_of(schedule) == [G0, G1, G0, G1]
    assert (schedule.end_ms[0], schedule.end_ms[2]) == (20, 30)
    assert schedule.first_start_ms[3] == (0 if policy == "sjf-ffs" else 21)
