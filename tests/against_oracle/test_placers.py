"""Placers where jobs slow each other on nodes and on links (semantics.md §7, §8, §15): the engine and the oracle agree
job by job and action by action.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import RunError
from tests.oracle import scorer
from tests.oracle.instances import PLAIN, Instance, random_instance
from tests.oracle.learnt_nodes import Learnt, learnt_of
from tests.oracle.model import Job, Node
from tests.oracle.node_instances import neighbours_of
from tests.oracle.nodes import Neighbours
from tests.oracle.placer_instances import LINKS, random_placed, run_placed, with_wide_links
from tests.oracle.placers_on_nodes import PlacerOnNodes
from tests.oracle.shared_instances import SharedInstance
from tests.oracle.uplinks import Contention

from . import one_in, replay
from .shared_replay import differences, run_engine

CASES, SLOW_CASES, CHUNKS = one_in(5), 1000, 5
ON_NODES = ("tetris-place", "lif", "packed-lif", "random-place", "scorer")
"""Those that look at what jobs do to each other on a node, and one that does not."""
ON_LINKS = ("lif", "scorer")
Known = Neighbours | Learnt | None
Drawn = tuple[SharedInstance, Contention | None, Known, Known]
"""An instance, contention, interference, and what the policy forecasts by."""


def on_nodes(seed: int, policy: str) -> Drawn:
    """Stated in profiles or learnt; the policy forecasts by that or by another source."""
    instance = random_placed(seed, policy)
    stated, learnt = neighbours_of(instance), learnt_of(instance)
    forecasts = "interference" if policy in ("lif", "packed-lif", "scorer") else ""
    if not forecasts or seed % 3 == 0:
        return instance, None, learnt if seed % 2 else stated, None
    if seed % 3 == 1:
        return instance, None, stated, learnt if seed % 2 else replace(stated, kappa=30.0, sigma=0.2, seed=seed)
    return instance, None, learnt if seed % 2 else None, stated


def on_links(seed: int, policy: str) -> Drawn:
    """Half of them on the cards of a BCube; some beside interference on nodes."""
    instance = random_placed(seed, policy, on_bcube=seed % 10 >= 5, links=True)
    return instance, LINKS[seed % len(LINKS)], with_wide_links(instance) if seed % 4 == 0 else None, None


def check(drawn: Drawn, folder: Path) -> None:
    instance, contention, neighbours, forecasts = drawn
    try:
        engine = run_engine(instance, folder, contention=contention, neighbours=neighbours, forecasts=forecasts)
    except RunError as error:  # once in some thousand instances
        with pytest.raises(ValueError, match="a factor states a number"):
            run_placed(*drawn)
        assert "it must be a number from 1 to 1e6" in str(error)
        return
    found = differences(engine, run_placed(instance, contention, neighbours, forecasts))
    assert not found, (instance.policy, instance.seed, contention, found)


@pytest.mark.parametrize("policy", ON_NODES)
def test_placers_agree_on_nodes(policy: str, tmp_path: Path) -> None:
    for seed in range(CASES):
        check(on_nodes(seed, policy), tmp_path)


@pytest.mark.parametrize("policy", ON_LINKS)
def test_placers_agree_on_links(policy: str, tmp_path: Path) -> None:
    for seed in range(2 * CASES):
        check(on_links(seed, policy), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("policy", ON_NODES)
def test_a_thousand_instances_on_nodes(policy: str, chunk: int, tmp_path: Path) -> None:
    for seed in range(100_000 + chunk, 100_000 + SLOW_CASES, CHUNKS):
        check(on_nodes(seed, policy), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("policy", ON_LINKS)
def test_a_thousand_instances_on_links(policy: str, chunk: int, tmp_path: Path) -> None:
    for seed in range(100_000 + chunk, 100_000 + SLOW_CASES, CHUNKS):
        check(on_links(seed, policy), tmp_path)


FELT: Mapping[str, tuple[Callable[..., Drawn], str, Any, str, Any, int]] = {
    "lif, of nodes": (on_nodes, "lif", PlacerOnNodes, "slowed", lambda *_: 1.0, 4),
    "packed-lif, of nodes": (on_nodes, "packed-lif", PlacerOnNodes, "slowed", lambda *_: 1.0, 4),
    "tetris-place, of cores": (on_nodes, "tetris-place", PlacerOnNodes, "idle_share", lambda *_: 1.0, 4),
    "lif, of links": (on_links, "lif", PlacerOnNodes, "overload", lambda *_: 1.0, 3),
    "scorer, of nodes": (on_nodes, "scorer", PlacerOnNodes, "slowed_beside", lambda *_: 1.0, 4),
    "scorer, of links": (on_links, "scorer", PlacerOnNodes, "held_back", lambda *_: 1.0, 3),
    "scorer, of harm": (on_nodes, "scorer", scorer, "harm", lambda *_: 0.0, 2),
    "scorer, of harm by links": (on_links, "scorer", scorer, "harm", lambda *_: 0.0, 3),
    "scorer, of LIF's place": (on_links, "scorer", scorer, "lif", scorer.lb, 1),
}
"""What a placer is to look at: how instances are drawn, the policy, what of the oracle is put out of action and by
what, and in how many of 40 runs the jobs are placed otherwise then, at least.
"""


@pytest.mark.slow
@pytest.mark.parametrize("felt", FELT)
def test_the_instances_have_what_they_are_to_test(felt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, policy, owner, name, instead, at_least = FELT[felt]
    drawn = [draw(seed, policy) for seed in range(40)]
    logs = [run_placed(*one).log for one in drawn]
    monkeypatch.setattr(owner, name, instead)
    assert sum(run_placed(*one).log != log for one, log in zip(drawn, logs, strict=True)) >= at_least


def crowded(seed: int, gpus: int, nodes_per_rack: int, gangs: tuple[int, ...]) -> Instance:
    """60 nodes, on which a scorer that likes GPUs left over spreads jobs."""
    draw = random.Random(seed)
    base = random_instance(seed, replace(PLAIN, policies=("scorer",)))
    weights = dict.fromkeys(scorer.FEATURES, 0.0) | {"gpus_left": -1.0, "racks": draw.choice((0.0, -0.5))}
    return replace(
        base,
        nodes=tuple(Node(gpus, rack=n // nodes_per_rack) for n in range(60)),
        jobs=tuple(Job(submit_ms=n, gpus=draw.choice(gangs), work_ms=draw.randint(60, 90)) for n in range(80)),
        params=weights | {"patience": 0.0, "schedulers": 1, "forward": True},
    )


@pytest.mark.parametrize(
    ("gpus", "nodes_per_rack", "gangs"), [(4, 3, (1, 1, 1, 2)), (2, 2, (1, 3))], ids=["nodes", "racks"]
)
def test_more_places_than_candidates(
    gpus: int, nodes_per_rack: int, gangs: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the widest gangs 30 nodes are listed, or `packed` and 14 racks twice; then what `lb` and `lif` would do."""
    listed, candidates = [0], scorer.candidates

    def counted(*question: Any) -> list[Any]:
        found = candidates(*question)
        listed.append(len(found) if question[1].job.gpus == max(gangs) else 0)
        return found

    monkeypatch.setattr(scorer, "candidates", counted)
    instance = crowded(1, gpus, nodes_per_rack, gangs)
    assert asdict(replay.run_engine(instance)) == asdict(instance.run_oracle())
    assert max(listed) == (30 + 2 if max(gangs) <= gpus else 1 + 2 * 14 + 2)
