"""Starts on GPUs named at random, rebatch, resize and preemption where up to four jobs share a GPU, and rings that
share links (semantics.md §8, §10): the engine and the oracle agree job by job and action by action, and on refusals.
"""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.oracle.changing import ChangingWorld
from tests.oracle.instances import with_shapes
from tests.oracle.shared_instances import SharedInstance, random_crowded, random_shared, with_links
from tests.oracle.sharing import PAIRS, SharedSchedule, simulate
from tests.oracle.speeds import ALONE
from tests.oracle.uplinks import Contention, ring_of
from tests.oracle.world import Life

from . import one_in
from .random_actions import Whims, replay
from .shared_replay import differences, run_engine, with_measured_pairs

CASES = one_in(4)
CHUNKS = 2
LINKS = ("level", "max-min", "duty-cycle", "node-link")


def drawn(seed: int, *, on_bcube: bool = False) -> SharedInstance:
    """Slow-downs are mostly numbers and files; now and then the shipped pairs, or their law."""
    instance = random_crowded(seed, on_bcube=on_bcube)
    instance = replace(instance, jobs=with_shapes(seed, instance.nodes, instance.jobs))
    word = {3: "table", 4: "law"}.get(seed % 7)
    return with_measured_pairs(instance, word) if word else instance


def both(
    instance: SharedInstance,
    folder: Path,
    contention: Contention | None = None,
    make: type[ChangingWorld] = ChangingWorld,
) -> tuple[SharedSchedule, SharedSchedule, Whims]:
    """What the engine did under whims, what the oracle makes of the same whims, and the whims."""
    whims = Whims(instance, max(1, max(job.work_ms for job in instance.jobs) // 6))
    engine = run_engine(instance, folder, policy=whims, contention=contention)
    told = replace(whims, passes=list(whims.passes))
    decide: Any = partial(replay, told)
    oracle = simulate(
        instance.speeds,
        instance.jobs,
        decide,
        sharing=instance.sharing,
        placement=instance.placement,
        overheads=instance.overheads,
        queue_limits=instance.queue_limits,
        script=instance.script,
        contention=contention,
        make=make,
    )
    assert not told.passes, f"passes that the oracle has not: {told.passes[0]}"
    return engine, oracle, whims


def agree_under_whims(seeds: range, folder: Path) -> None:
    for seed in seeds:
        engine, oracle, _ = both(drawn(seed), folder)
        found = differences(engine, oracle)
        assert not found, (seed, found)


def agree_on_links(how: str, seeds: range, folder: Path, *, on_bcube: bool = False) -> None:
    """Under whims, and under policies that count on rates. On a BCube a gang may be wider than a rack: nothing is
    narrower beyond it, so alone it is as fast as without contention.
    """
    contention = Contention(how)
    for seed in seeds:
        instance = drawn(seed, on_bcube=on_bcube)
        engine, oracle, _ = both(instance if on_bcube else with_links(instance), folder, contention)
        found = differences(engine, oracle)
        assert not found, (seed, "whims", found)
        instance = random_shared(seed, PAIRS, on_bcube=on_bcube)
        instance = instance if on_bcube else with_links(instance)
        found = differences(run_engine(instance, folder, contention=contention), instance.run_oracle(None, contention))
        assert not found, (seed, instance.policy, found)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_whatever_a_policy_does_ends_in_the_same_way(chunk: int, tmp_path: Path) -> None:
    agree_under_whims(range(chunk, CASES, CHUNKS), tmp_path)


@pytest.mark.parametrize("how", LINKS)
def test_links_are_shared_as_well(how: str, tmp_path: Path) -> None:
    agree_on_links(how, range(one_in(15)), tmp_path)


@pytest.mark.parametrize("how", LINKS)
def test_so_are_the_cards_of_a_bcube(how: str, tmp_path: Path) -> None:
    agree_on_links(how, range(one_in(15)), tmp_path, on_bcube=True)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_whatever_a_policy_does_ends_in_the_same_way_thousands_of_times(chunk: int, tmp_path: Path) -> None:
    agree_under_whims(range(100_000 + chunk, 105_000, 10), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("how", LINKS)
def test_links_are_shared_as_well_thousands_of_times(how: str, tmp_path: Path) -> None:
    agree_on_links(how, range(100_000, 100_625), tmp_path)
    agree_on_links(how, range(200_000, 200_625), tmp_path, on_bcube=True)


class Watched(ChangingWorld):
    """Counts what the instances meet."""

    seen: ClassVar[Counter[str]] = Counter()

    def end_of_instant(self) -> None:
        super().end_of_instant()
        self.seen["passes"] += 1
        for gpu in {gpu for life in self.lives for gpu in life.place}:
            states = Counter(life.state for life in self.on(gpu) if not self.is_fraction(life))
            self.seen[f"{states['RUNNING']} running"] += 1
            self.seen["STARTING beside RUNNING"] += states["STARTING"] > 0 < states["RUNNING"]
            self.seen["STOPPING beside RUNNING"] += states["STOPPING"] > 0 < states["RUNNING"]
        self.seen["links shared"] += any(self.lives[life.row].felt != ALONE for life in self.having("RUNNING"))

    def begin_to_run(self, life: Life) -> None:
        self.seen["resumed"] += life.row in self.changing
        super().begin_to_run(life)

    def fail_jobs_of(self, node: int) -> None:
        down = [life for life in self.lives if any(at == node for at, _ in life.place)]
        self.seen["down while RUNNING"] += any(life.state == "RUNNING" for life in down)
        self.seen["down amid a change"] += any(life.row in self.changing for life in down)
        super().fail_jobs_of(node)


@pytest.mark.slow
def test_instances_meet_what_they_are_meant_to_test(tmp_path: Path) -> None:
    tries = Counter[tuple[str, bool]]()
    Watched.seen.clear()
    for seed in range(60):
        _, _, whims = both(with_links(drawn(seed)), tmp_path, Contention(LINKS[seed % 4]), Watched)
        tries.update((what.verb, what.allowed) for _, tried, _ in whims.passes for what in tried)
    assert min(tries[verb, True] for verb in ("start", "preempt", "rebatch", "resize")) > 100, tries
    assert min(tries[verb, False] for verb in ("start", "rebatch", "resize")) > 100, tries
    assert min(Watched.seen[f"{many} running"] for many in (2, 3, 4)) > 200, Watched.seen
    rare = ("STARTING beside RUNNING", "STOPPING beside RUNNING", "resumed", "down while RUNNING", "links shared")
    assert min(Watched.seen[what] for what in rare) > 30, Watched.seen
    assert Watched.seen["down amid a change"] > 3, Watched.seen


class WatchedCards(ChangingWorld):
    """Counts the instants of a ring by the cards it uses, and of a ring that others slow."""

    seen: ClassVar[Counter[tuple[str, ...]]] = Counter()

    def end_of_instant(self) -> None:
        super().end_of_instant()
        assert self.contention is not None
        for life in self.having("RUNNING"):
            own = self.lives[life.row]
            ring = ring_of(own.job, own.place, own.steps, self.speeds, self.contention)
            if ring is not None:
                cards = tuple(sorted({card for card, _ in ring.crosses}))
                self.seen[cards] += 1
                self.seen[*cards, "slowed"] += own.felt != ALONE


@pytest.mark.slow
def test_instances_on_a_bcube_use_either_card_and_both(tmp_path: Path) -> None:
    WatchedCards.seen.clear()
    for seed in range(40):
        both(drawn(seed, on_bcube=True), tmp_path, Contention(LINKS[seed % 4]), WatchedCards)
    for cards in (("first card",), ("second card",), ("first card", "second card")):
        assert WatchedCards.seen[cards] > 50, WatchedCards.seen
        assert WatchedCards.seen[*cards, "slowed"] > 20, WatchedCards.seen
