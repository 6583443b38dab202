"""Section 10, the policies: whether it pays to share, and where. Drawings and models as in `test_sharing_by_hand`."""

import random
from dataclasses import replace

import pytest

from .bsbf import Partner, mean_of_joining, sum_of_ends
from .model import Job, Node
from .sharing import SharedSchedule, SharingWorld, simulate
from .speeds import Compute, Model, Speeds
from .test_sharing_by_hand import G0, ground, heavy, light

PAIRS = ("sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs")


def mask(schedule: SharedSchedule, row: int) -> list[tuple[int, int]]:
    return next(list(entry[3]) for entry in schedule.log if entry[2] == row)


def steps(schedule: SharedSchedule, row: int) -> int:
    return next(entry[4] for entry in schedule.log if entry[2] == row)


# -- the theorem ---------------------------------------------------------------------------------------


def mean_when_joining_at(at_ms: int, left_a: int, left_b: int, xi_a: float, xi_b: float) -> float:
    """Both on one GPU, B from 0 and A from `at_ms` on (if B has not ended): the mean of their ends."""
    speeds = ground(1, xi=lambda a, b: xi_a if a == "light" else xi_b)
    a, b, clock = light(0, 1, left_a), Job(0, 1, left_b, model="ring"), Job(at_ms, 1, 0)

    def decide(world: SharingWorld) -> None:
        first, second = world.lives[0], world.lives[1]
        if second.state == "PENDING":
            world.start(second, frozenset({G0}))
        if first.state == "PENDING" and (world.now >= at_ms or second.state == "COMPLETED"):
            world.start(first, frozenset({G0}))
        if world.lives[2].state == "PENDING":
            world.lives[2].state = "COMPLETED"  # it was there for a pass at that time

    ends = simulate(speeds, [a, b, clock], decide, sharing=2).end_ms
    assert ends[0] is not None
    assert ends[1] is not None
    return (ends[0] + ends[1]) / 2


def test_the_best_time_to_join_is_at_once_or_at_the_end() -> None:
    """By brute force over the times; and the means at both ends are those of the formulas."""
    draw = random.Random(0)
    wins = [0, 0]
    for _ in range(60):
        left_a, left_b = draw.randint(50, 40_000), draw.randint(50, 40_000)
        xi_a, xi_b = (draw.choice([1.0, draw.uniform(1, 1.6), draw.uniform(1, 3)]) for _ in range(2))
        means = [mean_when_joining_at(left_b * k // 24, left_a, left_b, xi_a, xi_b) for k in range(25)]
        assert min(means[0], means[-1]) <= min(means) + 3
        joined, after = mean_of_joining(left_a, left_b, xi_a, xi_b), left_b + left_a / 2
        assert means[0] == pytest.approx(joined, abs=3)
        assert means[-1] == pytest.approx(after, abs=3)
        wins[joined < after] += 1
    assert min(wins) > 10


@pytest.mark.parametrize("seed", range(20))
def test_at_one_it_always_pays_and_at_two_for_the_shorter(seed: int) -> None:
    draw = random.Random(seed)
    left_a, left_b = draw.uniform(1, 1e6), draw.uniform(1, 1e6)
    longer, shorter = max(left_a, left_b), min(left_a, left_b)
    assert mean_of_joining(left_a, left_b, 1, 1) < left_b + left_a / 2
    assert mean_of_joining(longer, shorter, 2, 2) > shorter + longer / 2
    # xi 2: T = L_B / 2 + 3/2 L_A is less than L_B + L_A / 2 where L_A is less than half of L_B.
    assert (mean_of_joining(shorter, longer, 2, 2) < longer + shorter / 2) == (shorter < longer / 2)


def test_the_sum_of_a_pair_is_twice_its_mean() -> None:
    draw = random.Random(1)
    life = None
    for _ in range(200):
        left_a, left_b, xi_a, xi_b = (
            *(draw.uniform(0, 100) for _ in range(2)),
            *(draw.uniform(1, 3) for _ in range(2)),
        )
        partner = Partner(life, [G0], 1, left_b, xi_a, xi_b, 0.0)  # ty: ignore[invalid-argument-type]
        assert sum_of_ends(left_a, [partner]) == pytest.approx(2 * mean_of_joining(left_a, left_b, xi_a, xi_b))


# -- sjf-bsbf ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", PAIRS)
def test_without_slow_down_everybody_shares(policy: str) -> None:
    # gpu0 A B, gpu1 C D: nobody waits.
    schedule = simulate(ground(2, xi=1.0), [light(t, 1, 10 + t) for t in range(4)], policy)
    assert schedule.first_start_ms == [0, 1, 2, 3]
    assert schedule.end_ms == [10, 12, 14, 16]


def test_at_two_only_who_is_shorter_than_half_of_what_is_left_shares() -> None:
    # A of 100. At 20, with 80 left: B of 40 waits, C of 39 shares (both at 1/2): to 98. A has 41 left then; B of 40 is
    # not shorter than half of that, and starts at 139, when A has ended.
    schedule = simulate(ground(1), [light(0, 1, 100), light(20, 1, 40), light(20, 1, 39)], "sjf-bsbf")
    assert schedule.first_start_ms == [0, 139, 20]
    assert schedule.end_ms == [139, 179, 98]


def test_first_fit_shares_whether_or_not_it_pays() -> None:
    schedule = simulate(ground(1), [light(0, 1, 100), light(20, 1, 100)], "sjf-ffs")
    # At 1/2 from 20 on: by 180 A has its 80, B 80 of 100: 200.
    assert schedule.end_ms == [180, 200]


def test_the_shortest_first() -> None:
    # One GPU, xi 3: A runs; B of 9 and C of 8 wait. At A's end C starts, with B beside it not.
    schedule = simulate(ground(1, xi=3.0), [light(0, 1, 10), light(0, 1, 9), light(0, 1, 8)], "sjf-bsbf")
    assert schedule.first_start_ms == [17, 8, 0]


def test_the_newcomer_accumulates_as_little_as_fits() -> None:
    # A (heavy, 60 bytes) leaves 40: B at s = 2. C (light) fits at once beside D.
    schedule = simulate(ground(1, xi=1.0), [heavy(0, 1, 100), heavy(1, 1, 50)], "sjf-bsbf")
    assert steps(schedule, 1) == 2
    assert schedule.end_ms == [100, 62]  # 1 + 50 · 1.2, rate rounded down a little


@pytest.mark.parametrize("policy", ["sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs"])
@pytest.mark.parametrize(("accumulation", "shares"), [("all", True), ("exact", False), ("none", False)])
def test_who_may_not_accumulate_shares_only_where_it_fits_whole(policy: str, accumulation: str, shares: bool) -> None:
    # As above, but heavy has batch normalisation: it waits for A's end. C (light) needs no accumulation to fit.
    base = ground(1, xi=1.0)
    speeds = replace(base, models={name: replace(m, accumulates=name != "heavy") for name, m in base.models.items()})
    jobs = [heavy(0, 1, 100), heavy(1, 1, 50)]
    schedule = simulate(speeds, jobs, policy, accumulation=accumulation)
    assert schedule.first_start_ms == [0, 1 if shares else 100]
    assert steps(schedule, 1) == (2 if shares else 1)
    assert simulate(speeds, [heavy(0, 1, 100), light(1, 1, 50)], policy, accumulation=accumulation).end_ms == [100, 51]


def test_a_model_that_trains_the_same_accumulates_where_others_may_not() -> None:
    jobs = [heavy(0, 1, 100), heavy(1, 1, 50)]
    assert simulate(ground(1, xi=1.0), jobs, "sjf-bsbf", accumulation="exact").first_start_ms == [0, 1]
    assert simulate(ground(1, xi=1.0), jobs, "sjf-bsbf", accumulation="none").first_start_ms == [0, 100]


def test_who_takes_all_memory_shares_with_nobody() -> None:
    unknown = Job(0, 1, 100)
    assert simulate(ground(1, xi=1.0), [unknown, light(1, 1, 1)], "sjf-bsbf").first_start_ms == [0, 100]
    assert simulate(ground(1, xi=1.0), [light(0, 1, 100), Job(1, 1, 1)], "sjf-bsbf").first_start_ms == [0, 100]
    # Of 9 samples heavy wants 110 bytes: it is placed all the same, at s = 1.
    schedule = simulate(ground(1), [Job(0, 1, 10, model="heavy", samples=9), light(1, 1, 1)], "sjf-bsbf")
    assert schedule.first_start_ms == [0, 10]
    assert steps(schedule, 0) == 1


def test_free_gpus_first_then_the_partner_with_the_least_mean() -> None:
    # n0 A(100) B(20) . .   xi 1. C of 3 GPUs and 10 ms takes the two free ones and one more: of B, for
    # T = 10/2 + 20/2 = 15 beside B, 55 beside A.
    schedule = simulate(ground(4, xi=1.0), [light(0, 1, 100), light(0, 1, 20), light(1, 3, 10)], "sjf-bsbf")
    assert mask(schedule, 1) == [(0, 0b0001)]  # the shorter was started first
    assert mask(schedule, 2) == [(0, 0b1101)]


def test_nothing_is_taken_if_it_is_not_enough() -> None:
    # n0 A B, xi 1.6. C of 2 ms: it pays beside A (100 left) but not beside B (2 left), and it needs two GPUs.
    xi = 1.6
    assert mean_of_joining(2, 99, xi, xi) < 99 + 1
    assert mean_of_joining(2, 2, xi, xi) > 2 + 1
    schedule = simulate(ground(2, xi=xi), [light(0, 1, 100), light(0, 1, 3), light(1, 2, 2)], "sjf-bsbf")
    assert schedule.first_start_ms == [0, 0, 3]  # B has ended: a free GPU and A's


def test_a_gpu_with_two_jobs_takes_no_third() -> None:
    schedule = simulate(ground(1, xi=1.0), [light(0, 1, 10)] * 3, "sjf-bsbf")
    assert schedule.first_start_ms == [0, 0, 10]
    assert simulate(ground(1, xi=1.0), [Job(0, 1, 10, model="ring")] * 3, "sjf-bsbf", sharing=3).first_start_ms[2] == 10


def test_a_job_above_its_queues_limit_closes_the_queue() -> None:
    jobs = [Job(0, 1, 50, model="light", queue="q"), Job(1, 2, 5, model="light", queue="q")]
    jobs += [Job(1, 1, 6, model="light", queue="q"), Job(1, 1, 7, model="light")]
    schedule = simulate(ground(2, xi=1.0), jobs, "sjf-bsbf", queue_limits={"q": 2})
    assert schedule.first_start_ms == [0, 50, 55, 1]


def test_the_joint_gate_asks_for_the_sum_of_all() -> None:
    """A of 2 GPUs beside B and C, one GPU each, xi 1.4 on both, A 30, B and C 100.

    With each alone it pays: T = 50 + (1 - 1/2.8) · 42 = 77 < 115. Together: A to 42, B and C have done 30 by then
    and end at 112: 266. Apart: B and C at 100, A at 130: 330. It pays. With A of 90 beside B of 100: pairwise
    T = 50 + 0.642857 · 126 = 131 < 145, and jointly: A to 126, B and C to 136: 398; apart 100 + 100 + 190 = 390.
    """
    for work, joint in ((30, 1), (90, 101)):
        jobs = [light(0, 1, 101), light(0, 1, 101), light(1, 2, work)]
        assert simulate(ground(2, xi=1.4), jobs, "sjf-bsbf").first_start_ms == [0, 0, 1]
        assert simulate(ground(2, xi=1.4), jobs, "sjf-bsbf", gate="joint").first_start_ms == [0, 0, joint]


def test_a_starting_partner_counts_and_stays_unslowed_until_it_runs() -> None:
    # start_s = 5 ms: A starts at 0, B joins at 1 and runs from 6.
    schedule = simulate(ground(1), [light(0, 1, 100), light(1, 1, 10)], "sjf-bsbf", overheads={"start_s": 0.005})
    assert schedule.first_start_ms == [0, 1]
    # A alone for 1 ms, then both at 1/2: B to 26, A has done 1 + 10 and ends 89 later.
    assert schedule.end_ms == [115, 26]


def test_the_first_alternative_where_it_can() -> None:
    """Types x (slowed by 3) and y (by 1), a job on each: C, of any type, cannot share on x and does on y."""
    models = {"light": Model({kind: Compute(0, 1) for kind in "xy"}, 4, 40, 0)}
    speeds = Speeds(
        nodes=(Node(1, gpu_type="x"), Node(1, gpu_type="y")),
        memory={"x": 100, "y": 100},
        models=models,
        networks={kind: ground(1).networks[""] for kind in "xy"},
        xi=lambda kind, a, b: {"x": 3.0, "y": 1.0}[kind],
    )
    schedule = simulate(speeds, [light(0, 1, 10), light(0, 1, 10), light(1, 1, 10)], "sjf-bsbf")
    assert mask(schedule, 2) == [(1, 1)]


# -- sjf-bsbf-consolidated -----------------------------------------------------------------------------


def test_consolidated_shares_on_one_node_rather_than_being_apart() -> None:
    # n0 A .   n1 B .   C of 2: sjf-bsbf places it on the two free GPUs; consolidated beside A on n0.
    jobs = [light(0, 1, 100), light(0, 2, 50), light(0, 1, 90), light(60, 2, 10)]
    apart = simulate(ground(2, 2, xi=1.0), jobs, "sjf-bsbf")
    close = simulate(ground(2, 2, xi=1.0), jobs, "sjf-bsbf-consolidated")
    assert len(mask(close, 3)) == 1
    assert close.nodes[3] == 1
    assert apart.first_start_ms[3] == close.first_start_ms[3] == 60


def test_consolidated_takes_the_node_that_suits_best() -> None:
    # Free: n0 2, n1 1, n2 3 of 3: a job of 1 goes to n1 (none left over), the next of 2 to n0.
    jobs = [light(0, 1, 9), light(0, 2, 8), light(1, 1, 10), light(1, 2, 10)]
    schedule = simulate(ground(3, 3, 3, xi=3.0), jobs, "sjf-bsbf-consolidated")
    assert mask(schedule, 1) == [(0, 0b011)]
    assert mask(schedule, 0) == [(0, 0b100)]
    assert mask(schedule, 2) == [(1, 0b001)]
    assert mask(schedule, 3) == [(1, 0b110)]


def test_consolidated_breaks_ties_by_the_jobs_on_a_node_also_for_who_cannot_share() -> None:
    # By 6 the second and the last have ended:  n0 . . A B   n1 . . C C. Both have two free, and on n1 are fewer jobs.
    # Nothing is known of the model of the last, so it can share with nobody.
    jobs = [light(0, 1, 100), light(0, 2, 5), light(0, 1, 101), light(1, 2, 90), light(1, 2, 4), Job(6, 1, 9)]
    schedule = simulate(ground(4, 4, xi=3.0), jobs, "sjf-bsbf-consolidated")
    assert [mask(schedule, row) for row in range(4)] == [[(0, 0b0100)], [(0, 0b0011)], [(0, 0b1000)], [(1, 0b1100)]]
    assert mask(schedule, 5) == [(1, 0b0001)]
