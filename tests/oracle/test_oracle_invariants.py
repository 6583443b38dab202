"""What must hold of any schedule, checked on the oracle's log without trusting its state."""

from dataclasses import replace

import pytest

from .instances import PLAIN, Instance, Kind, random_instance
from .model import LogEntry, Schedule

SEEDS = range(150)


def gpus_of(entry: LogEntry) -> set[tuple[int, int]]:
    return {(node, gpu) for node, mask in entry[3] for gpu in range(mask.bit_length()) if mask >> gpu & 1}


def check_gangs_are_whole(instance: Instance, schedule: Schedule) -> None:
    for entry in schedule.log:
        job = instance.jobs[entry[2]]
        gpus = gpus_of(entry)
        assert len(gpus) == job.gpus
        assert all(gpu < instance.nodes[node].gpus for node, gpu in gpus)
        assert entry[0] >= job.submit_ms
        assert instance.round_ms == 0 or entry[0] % instance.round_ms == 0


def check_no_gpu_is_held_twice(instance: Instance, schedule: Schedule) -> None:
    """Replays START, PREEMPT (plus stop_s) and ends. Only where no node fails: failures are not in the log."""
    stop_ms = round(1000 * instance.overheads.get("stop_s", 0))
    last_start: dict[int, LogEntry] = {}
    spans: list[tuple[int, int, set[tuple[int, int]]]] = []
    for entry in schedule.log:
        time_ms, verb, row, _ = entry
        if verb == "START":
            assert row not in last_start
            last_start[row] = entry
        else:
            begun = last_start.pop(row)
            assert gpus_of(begun) == gpus_of(entry)
            end_ms = schedule.end_ms[row]
            assert end_ms is not None
            spans.append((begun[0], min(time_ms + stop_ms, end_ms), gpus_of(entry)))
    for row, entry in last_start.items():
        end_ms = schedule.end_ms[row]
        assert end_ms is not None
        spans.append((entry[0], end_ms, gpus_of(entry)))
    for index, (start_ms, end_ms, gpus) in enumerate(spans):
        for other_start_ms, other_end_ms, other_gpus in spans[:index]:
            if start_ms < other_end_ms and other_start_ms < end_ms:
                assert not gpus & other_gpus


def check_the_books(instance: Instance, schedule: Schedule) -> None:
    for row, job in enumerate(instance.jobs):
        assert schedule.end_ms[row] is not None
        assert schedule.held_gpu_ms[row] >= schedule.run_ms[row] * job.gpus
        if schedule.cancelled[row]:
            assert (schedule.end_ms[row], "CANCEL", row) in instance.script
        elif instance.rate_by_locality == instance.rates_of_other == (1.0,) * 5:
            assert schedule.run_ms[row] == job.work_ms + schedule.lost_ms[row]
        else:
            assert schedule.run_ms[row] >= job.work_ms
        assert schedule.preemptions[row] == sum(verb == "PREEMPT" and at == row for _, verb, at, _ in schedule.log)


@pytest.mark.parametrize("kind", [PLAIN, Kind()], ids=["plain", "everything"])
def test_schedules_of_random_instances_are_sound(kind: Kind) -> None:
    for seed in SEEDS:
        instance = random_instance(seed, replace(kind, by_chance=False))
        schedule = instance.run_oracle()
        check_gangs_are_whole(instance, schedule)
        check_the_books(instance, schedule)
        if all(what == "CANCEL" for _, what, _ in instance.script):
            check_no_gpu_is_held_twice(instance, schedule)


@pytest.mark.slow
def test_instances_meet_what_they_are_meant_to_test() -> None:
    """Among the seeds there are evictions, losses, node failures, waits, limits and zero work."""
    instances = [random_instance(seed, Kind(by_chance=False)) for seed in SEEDS]
    schedules = [instance.run_oracle() for instance in instances]
    assert sum(any(schedule.preemptions) for schedule in schedules) > len(SEEDS) // 20
    assert sum(any(schedule.lost_ms) for schedule in schedules) > 3
    assert sum(any(schedule.cancelled) for schedule in schedules) > len(SEEDS) // 10
    assert sum(bool(instance.script) for instance in instances) > len(SEEDS) // 10
    assert sum(bool(instance.queue_limits) for instance in instances) > len(SEEDS) // 10
    assert {instance.policy for instance in instances} == set(Kind().policies)
    assert any(job.work_ms == 0 for instance in instances for job in instance.jobs)


def test_same_seed_same_instance() -> None:
    assert random_instance(7) == random_instance(7)
