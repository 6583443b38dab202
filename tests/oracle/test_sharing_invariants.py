"""What must hold of any schedule with shared GPUs, checked at every instant from the log and from where jobs are."""

from collections import Counter
from dataclasses import dataclass

import pytest

from . import sharing
from .shared_instances import SharedInstance, random_shared
from .sharing import PAIRS, POLICIES, SharingWorld
from .world import Life

SEEDS = range(100)


@dataclass
class Watched(SharingWorld):
    """Looks at everything at the end of every instant, and counts work in its own way."""

    def end_of_instant(self) -> None:
        super().end_of_instant()
        holders = self.having("STARTING", "RUNNING", "STOPPING")
        assert all(len(life.place) == (life.job.gpus if life in holders else 0) for life in self.lives)
        for gpu in {gpu for life in holders for gpu in life.place}:
            self.check_gpu(gpu, [life for life in self.lives if gpu in life.place])
        for life in self.having("RUNNING"):
            assert life.finish_ms >= self.now
            assert 0 <= life.done <= life.job.work_ms

    def check_gpu(self, gpu: tuple[int, int], there: list[Life]) -> None:
        assert len(there) <= self.sharing
        parts = [life for life in there if life.job.milli < 1000]
        if parts and self.sharing > 1:
            assert parts == there
            assert sum(life.job.milli for life in parts) <= 1000
        else:
            assert self.free_bytes(gpu) >= 0

    def halt(self, life: Life) -> None:
        self.worked[life.row] += life.rate * self.elapsed(life)
        self.stretches[life.row] += 1
        super().halt(life)


def run_watched(instance: SharedInstance, monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[int], Counter[int]]:
    worked, stretches = Counter[int](), Counter[int]()
    monkeypatch.setattr(Watched, "worked", worked, raising=False)
    monkeypatch.setattr(Watched, "stretches", stretches, raising=False)
    monkeypatch.setattr(sharing, "SharingWorld", Watched)
    schedule = instance.run_oracle()
    for row, job in enumerate(instance.jobs):
        assert schedule.end_ms[row] is not None
        assert schedule.cancelled[row] or worked[row] == pytest.approx(
            job.work_ms + schedule.lost_ms[row], abs=1.5 + 0.001 * stretches[row]
        )  # a rate can be above 1
        assert schedule.comm_ms[row] <= schedule.run_ms[row]
    return worked, stretches


@pytest.mark.parametrize("policy", list(POLICIES))
def test_schedules_of_random_instances_are_sound(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more than K jobs nor more memory on a GPU than it has, gangs whole, work neither lost nor won, all end."""
    for seed in SEEDS[::2]:
        run_watched(random_shared(seed, (policy,)), monkeypatch)


def shared_starts(instance: SharedInstance) -> int:
    """Starts beside another job, in instances without node events (which are not in the log)."""
    schedule = instance.run_oracle()
    held: list[tuple[int, int | None, set[tuple[int, int]]]] = []
    count = 0
    for time_ms, _, row, masks, _ in schedule.log:
        gpus = {(node, gpu) for node, mask in masks for gpu in range(mask.bit_length()) if mask >> gpu & 1}
        count += any(gpus & other and (end is None or end > time_ms) for _, end, other in held)
        held.append((time_ms, schedule.end_ms[row], gpus))
    return count


@pytest.mark.slow
def test_instances_meet_what_they_are_meant_to_test() -> None:
    instances = [random_shared(seed, (policy,)) for policy in PAIRS for seed in SEEDS]
    quiet = [i for i in instances if not i.script]
    assert sum(any(what == "CANCEL" for _, what, _ in i.script) for i in instances) > 60
    assert sum(shared_starts(i) > 2 for i in quiet) > len(quiet) // 4
    schedules = [i.run_oracle() for i in instances]
    assert sum(any(entry[4] > 1 for entry in schedule.log) for schedule in schedules) > len(SEEDS) // 5
    assert sum(any(schedule.comm_ms) for schedule in schedules) > len(SEEDS) // 4
    for share in ("script", "queue_limits", "overheads", "round_ms"):
        assert sum(bool(getattr(i, share)) for i in instances) > 20, share
    assert sum(len(i.memory) > 1 for i in instances) > 60
    assert sum(any(job.milli < 1000 for job in i.jobs) for i in instances) > 100
    assert sum(any(job.estimate_ms != max(1, job.work_ms) for job in i.jobs) for i in instances) > 100


@pytest.mark.slow
def test_the_gates_and_the_places_differ() -> None:
    """Each of the policies does something that the others do not."""
    found = Counter[str]()
    for seed in SEEDS:
        base = random_shared(seed, ("fifo",))
        logs = {}
        for name, gate in (("sjf-bsbf", "pairwise"), ("sjf-bsbf", "joint"), *((p, "pairwise") for p in PAIRS[1:])):
            logs[name, gate] = (
                sharing.simulate(base.speeds, base.jobs, name, gate=gate, queue_limits=base.queue_limits).log
                if all(fits(base))
                else []
            )
        plain = logs["sjf-bsbf", "pairwise"]
        found.update(f"{name} {gate}" for (name, gate), log in logs.items() if log != plain)
    assert set(found) == {"sjf-bsbf joint", "sjf-bsbf-consolidated pairwise", "sjf-ffs pairwise"}
    assert min(found.values()) > 1


def fits(instance: SharedInstance) -> list[bool]:
    types = Counter[str]()
    for node in instance.nodes:
        types[node.gpu_type] += node.gpus
    return [job.gpus <= max(types.values()) or "+" in job.gpu_type for job in instance.jobs]


def test_same_seed_same_instance() -> None:
    assert random_shared(7) == random_shared(7)
