"""A world that is restored goes on as if it had never stopped; one that was made otherwise refuses."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pointsman.errors import RunError
from pointsman.live.world.checkpoint import NotAlike, checkpoint, restore
from pointsman.live.world.live_world import LiveWorld

from .test_equality import CLUSTERS, workload
from .toy import Case, Toy

POLICIES = ("gittins", "dally", "tiresias", "kueue", "multifactor", "easy", "srtf", "rounds(srtf, 60)")
LISTENING = tuple(f"{Path(__file__).parent / 'listening.py'}:{name}" for name in ("Listens", "Alternates"))


def case_of(policy: str) -> Case:
    return Case(workload("philly"), CLUSTERS["philly"], policy, oversized="drop")


def after_turns(toy: Toy, turns: int) -> Callable[[], bool]:
    counted = iter(range(turns))
    return lambda: next(counted, None) is None


@pytest.mark.parametrize("turns", [40, 300])
@pytest.mark.parametrize("policy", [*POLICIES, LISTENING[1]])
def test_a_restored_world_decides_as_one_that_never_stopped(policy: str, turns: int) -> None:
    case = case_of(policy)
    toy = Toy(case, case.world())
    toy.run(after_turns(toy, turns))
    kept = checkpoint(toy.world)
    so_far = list(toy.actions)
    world = case.world()
    restore(world, kept)
    assert checkpoint(world) == kept
    assert toy.copy(world).run() == toy.run()[len(so_far) :]


def test_a_policy_may_have_heard_of_many_events_at_once() -> None:
    case = case_of(LISTENING[1])
    world, ask = case.world(1 << 13), case.asks()[0]
    for _ in range(5_000):
        world.submit(ask, 0)
    world.advance(0)
    other = case.world(1 << 13)
    restore(other, checkpoint(world))
    assert len(other.simulation.inbox()) == len(world.simulation.inbox()) == 5_000


RESTORED = """
import sys, warnings
from pathlib import Path
from pointsman.live.world.checkpoint import restore
from tests.live.test_checkpoint import case_of
case = case_of("gittins")
world = case.world()
restore(world, Path(sys.argv[1]).read_bytes())
print(world.now_ms, world.due_ms)
"""


def test_another_process_goes_on_from_it(tmp_path: Path) -> None:
    case = case_of("gittins")
    toy = Toy(case, case.world())
    toy.run(after_turns(toy, 100))
    (tmp_path / "kept").write_bytes(checkpoint(toy.world))
    done = subprocess.run(
        [sys.executable, "-c", RESTORED, tmp_path / "kept"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(toy.world.now_ms), str(toy.world.due_ms)]


def test_between_two_turns_only() -> None:
    case = case_of("fifo")
    world = case.world()
    world.submit(case.asks()[0], 0)
    with pytest.raises(RunError, match="between two turns"):
        checkpoint(world)


@pytest.mark.parametrize(
    "other",
    [
        lambda: case_of("las").world(),
        lambda: Case(workload("philly"), "9x8", "gittins", oversized="drop").world(),
        lambda: Case(workload("philly"), CLUSTERS["philly"], "gittins", {"quantum_s": 601}, oversized="drop").world(),
        lambda: Case(workload("philly"), CLUSTERS["philly"], "gittins", overheads="periodic", oversized="drop").world(),
        lambda: case_of("gittins").world(room=1 << 13),
    ],
    ids=["policy", "cluster", "parameter", "overheads", "room"],
)
def test_what_was_not_made_alike_refuses(other: Callable[[], LiveWorld]) -> None:
    kept = checkpoint(case_of("gittins").world())
    with pytest.raises(NotAlike, match="another version"):
        restore(other(), kept)


@pytest.mark.parametrize("data", [b"", b"no checkpoint at all", (5).to_bytes(8, "little") + b"[1,2]"])
def test_what_is_no_checkpoint_is_refused(data: bytes) -> None:
    with pytest.raises(RunError, match="no checkpoint"):
        restore(case_of("fifo").world(), data)
