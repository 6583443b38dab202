"""What `explain` says where jobs share GPUs, on one to three GPUs and with figures worked by hand."""

from pathlib import Path

import pytest

from pointsman.speed.profiles.catalogue import load_catalogue
from tests.cli.conftest import Command

HEAD = "submit_s,gpus,duration_s,job_id,model,batch_size,fraction,queue\n"
THREE = [(0, 1, 100, "a"), (10, 1, 60, "b"), (11, 1, 90, "c")]
GANGS = [(0, 1, 100, "a"), (0, 1, 200, "x"), (10, 2, 60, "b"), (11, 3, 50, "c"), (12, 1, 50, "n")]


def run(command: Command, rows: list[tuple], cluster: str, policy: str, *more: str, models: dict | None = None) -> None:
    """Jobs of ResNet-18, but for those of `models`."""
    of = {"n": ""} | (models or {})
    lines = [
        f"{','.join(map(str, row[:4]))},{of.get(row[3], 'resnet18')},{','.join(map(str, (*row[4:], '', '', '')[:3]))}"
        for row in rows
    ]
    Path("jobs.csv").write_text(HEAD + "\n".join(lines) + "\n")
    done = command("simulate", "jobs.csv", "--cluster", cluster, "--policy", policy, "-o", "run", *more)
    assert done.code == 0, done.err


def explained(command: Command, job: str, at: float) -> str:
    done = command("explain", job, "--run", "run", "--at", str(at))
    assert done.code == 0, done.err
    return done.out.partition(": ")[2].rstrip("\n")


def test_a_running_job_says_beside_whom_and_how_much_slower(command: Command) -> None:
    """Beside each other both take 1.5 times as long::

        GPU  │ a ............................ │
             │        b ......... │
             0       10         100         130

    When b ends c does not pay beside a, which has 30 s to go: it starts when a ends.
    """
    run(command, THREE, "1x1/gpu=v100", "sjf-bsbf", "--interference", "1.5")
    assert explained(command, "a", 5) == "RUNNING: it holds 1 GPU on n0000 since 0 s (the first submit)"
    shared = "an iteration taking 1.5 times as long for it, since"
    assert f"it holds 1 GPU on n0000, shared with job b, {shared} 0 s" in explained(command, "a", 20)
    assert f"it holds 1 GPU on n0000, shared with job a, {shared} 10 s" in explained(command, "b", 20)
    assert explained(command, "c", 20) == (
        "PENDING (Resources): needs 1 GPU; 0 of those it may use are free, and no GPU has exactly one job to "
        "share with; by the estimated durations, if no other job arrives, it starts at 130 s (2.17 min after the first "
        "submit), when job a ends"
    )
    assert "it holds 1 GPU on n0000 since 0 s" in explained(command, "a", 100)


def test_sharing_that_does_not_pay_is_told_in_numbers(command: Command) -> None:
    """At ξ = 2 and 20 s, a has 80 s to go and b 60, so 2 · 60 < 2 · 80: together 80/2 + (1 − 1/4) · 120 = 130 s in the
    mean, in turn 80 + 60/2 = 110 s.
    """
    run(command, THREE, "1x1/gpu=v100", "sjf-bsbf", "--interference", "2")
    assert explained(command, "b", 20) == (
        "PENDING (Resources): needs 1 GPU; 0 of those it may use are free, and sharing is not beneficial with job a "
        "(mean time to the end 2.17 min together, 1.83 min in turn); by the estimated durations, if no other job "
        "arrives, it starts at 100 s (1.67 min after the first submit), when job a ends"
    )


def test_the_best_of_several_partners_is_told(command: Command) -> None:
    """At ξ = 3 and 20 s: beside a, 80 s to go, 80/2 + (1 − 1/6) · 3 · 30 = 115 s against 80 + 15; beside x, 180 s to
    go, 90 + 75 = 165 against 195 s would pay; beside x with 60 s to go only, 30 + 75 = 105 s against 75.
    """
    rows = [(0, 1, 100, "a"), (0, 1, 80, "x"), (10, 1, 30, "b")]
    run(command, rows, "1x2/gpu=v100", "sjf-bsbf", "--interference", "3")
    assert (
        "sharing is beneficial with none of 2 partners, the best being job x (mean time to the end 1.75 min together, "
        "1.25 min in turn); by the estimated durations, if no other job arrives, it starts at 80 s"
    ) in explained(command, "b", 20)


def test_a_gang_counts_free_gpus_partners_and_ends(command: Command) -> None:
    """a and b on GPU 0, x on GPU 1, b on GPU 2. At 20 s and ξ = 1.5, b has 60 − 10/1.5 = 53.3 s to go, so with c, of
    50 s, 53.3/2 + (1 − 1/3) · 75 = 76.7 s against 53.3 + 25 = 78.3; x has 180 s to go: 90 + 50 = 140 against 205.
    """
    run(command, GANGS, "1x3/gpu=v100", "sjf-bsbf", "--interference", "1.5")
    assert (
        "needs 3 GPUs; 0 of those it may use are free, and sharing is beneficial with job b (mean time to the end 1.28 "
        "min together, 1.31 min in turn), job x (mean time to the end 2.33 min together, 3.42 min in turn): 2 GPUs "
        "more; by the estimated durations, if no other job arrives, it starts at 200 s"
    ) in explained(command, "c", 20)
    assert (
        "needs 1 GPU; 0 of those it may use are free, and it cannot share GPUs, because its model has no profile; "
        "by the estimated durations, if no other job arrives, it starts at 100 s (1.67 min after the first submit), "
        "when job b ends"
    ) in explained(command, "n", 20)


def test_between_rounds_a_job_waits_for_the_pass(command: Command) -> None:
    """At ξ = 1.2 and 20 s: 80/2 + (1 − 1/2.4) · 72 = 82 s together, 80 + 30 = 110 in turn."""
    run(command, THREE[:2], "1x1/gpu=v100", "rounds(sjf-bsbf, 60)", "--interference", "1.2")
    assert explained(command, "b", 20) == (
        "PENDING (HeldByDelay): needs 1 GPU; 0 of those it may use are free; it could go beside job a (mean time to "
        "the end 1.37 min together, 1.83 min in turn), but the policy decides in rounds"
    )
    assert "shared with job a" in explained(command, "b", 60)


def batch_of(share: float) -> int:
    """Samples with which ResNet-50 fills this share of a V100's memory."""
    memory = load_catalogue().model("resnet50").memory
    return int((share * 32 * 2**30 - memory.fixed_bytes) / memory.bytes_per_sample)


@pytest.mark.parametrize(
    ("share", "policy", "said"),
    [
        (0.55, "sjf-bsbf", "it holds 1 GPU on n0000, shared with job a, with 2 steps of accumulation, since 1 s"),
        (0.99, "sjf-bsbf", "and beside job a there is too little memory; by the estimated"),
        (0.99, "sjf-ffs", "and beside job a there is too little memory; by the estimated"),
    ],
)
def test_memory_and_accumulation_are_told(share: float, policy: str, said: str, command: Command) -> None:
    rows = [(0, 1, 100, "a", batch_of(share)), (1, 1, 10, "b", batch_of(0.55))]
    models = dict.fromkeys("ab", "resnet50")
    run(command, rows, "1x1/gpu=v100", policy, "--interference", "1", models=models)
    assert said in explained(command, "b", 5)


def test_accumulation_that_a_partner_would_want_is_told(command: Command) -> None:
    rows = [(0, 1, 100, "a", batch_of(0.55)), (1, 1, 10, "b", batch_of(0.55))]
    models = dict.fromkeys("ab", "resnet50")
    run(command, rows, "1x1/gpu=v100", "rounds(sjf-ffs, 60)", "--interference", "1", models=models)
    assert "it could go beside job a (2 steps of accumulation), but the policy decides in rounds" in explained(
        command, "b", 5
    )


def test_our_gate_holds_a_gang_that_pays_with_each_but_not_with_all(command: Command) -> None:
    """At ξ = 2 and 10 s, g has 40 s and a and x 100 s each to go. Each pair: 100/2 + (1 − 1/4) · 80 = 110 s together,
    100 + 20 in turn. All three: g ends after 80 s, a and x after 80 + 60, 360 s in sum; in turn 100 + 100 + 140 = 340.
    """
    rows = [(0, 1, 110, "a"), (0, 1, 110, "x"), (10, 2, 40, "g")]
    both = [f"job {job} (mean time to the end 1.83 min together, 2 min in turn)" for job in "ax"]
    for gate in ("pairwise", "joint"):
        more = ("--interference", "2", "--set", f"sjf-bsbf.gate={gate}", "--force")
        run(command, rows, "1x2/gpu=v100", "sjf-bsbf", *more)
        said = explained(command, "g", 10)
        assert ("shared with jobs a and x" in said) == (gate == "pairwise")
    assert said == (
        f"PENDING (Resources): needs 2 GPUs; 0 of those it may use are free; it could go beside {', '.join(both)}, but "
        "all of them together would end later for it (gate joint)"
    )


def test_a_queue_closed_by_its_limit_is_told(command: Command) -> None:
    """h could go beside two of the three, but its queue holds one GPU of two; w, which goes after h, waits with it."""
    Path("cluster.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: c}, spec: {node_types: {n: {gpus: 3, gpu_type: "
        "v100}}, nodes: [{type: n}], queues: {q: {gpu_limit: 2}}}}"
    )
    rows = [(0, 1, 1000, "r", "", "", "q"), (0, 1, 1000, "a"), (0, 1, 1000, "y")]
    rows += [(1, 2, 40, "h", "", "", "q"), (1, 1, 50, "w", "", "", "q")]
    run(command, rows, "cluster.yaml", "sjf-bsbf", "--interference", "1.2")
    assert "(QuotaExceeded): needs 2 GPUs; queue 'q' holds 1 of the 2 it may hold" in explained(command, "h", 5)
    said = explained(command, "w", 5)
    assert said.startswith(
        "PENDING (Priority): needs 1 GPU; 0 of those it may use are free; it could go beside job r ("
    )
    assert said.endswith("), but a job ahead of it is held by the limit of their queue, and so is it")


def test_parts_of_gpus_are_called_so(command: Command) -> None:
    rows = [(0, 1, 50, "a", "", 0.5), (0, 1, 40, "b", "", 0.3), (1, 1, 10, "c", "", 0.4)]
    run(command, rows, "1x1", "fifo", "--gpu-sharing", "4", models=dict.fromkeys("abc", ""))
    assert "it holds 0.5 of a GPU on n0000, shared with job b, since 0 s" in explained(command, "a", 5)
    assert explained(command, "c", 5) == (
        "PENDING (Resources): needs 0.4 of a GPU; none of those it may use is free, or divided with as much left"
    )
