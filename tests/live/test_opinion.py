"""A world that is told who starts and stops follows another, and its policy would decide as that other's does."""

from typing import Any

import pytest

from pointsman.errors import UsageError
from pointsman.live.world.live_world import Ask
from pointsman.live.world.opinion import opinion
from pointsman.live.world.plan import Action
from pointsman.live.world.seating import preempt_there, start_there
from pointsman.policies.registry import LEARNED
from pointsman.types import Event, Outside, Told, Verb

from .test_equality import CLUSTERS, LIVE, workload
from .toy import Case, Toy

ROUNDS = [policy for policy in LIVE if policy.startswith("rounds")]
BY_ITS_OWN_PAST = {"gittins": 0.75, "multifactor": 0.7, "marl": 0.8}
"""Policies that remember what they have decided (grants, priorities, what was refused), and the
share of their decisions that they would take again without.
"""


class Followed:
    """A world, as its toy cluster knows it, and one that is told of all that it decides."""

    def __init__(self, case: Case) -> None:
        self.world, self.follower = case.world(), case.world(outside=Outside.DECISIONS)
        self.decided = self.alike = self.more = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def submit(self, ask: Ask, at_ms: int) -> int:
        self.follower.submit(ask, at_ms)
        return self.world.submit(ask, at_ms)

    def tell(self, kind: Event | Told, row: int, at_ms: int) -> None:
        self.follower.tell(kind, row, at_ms)
        self.world.tell(kind, row, at_ms)

    def advance(self, now_ms: int) -> list[Action]:
        self.follower.advance(now_ms)
        would = _whom([action for action in opinion(self.follower, now_ms) if action.at_ms <= now_ms + 1])
        decided = self.world.advance(now_ms)
        self.decided += len(_whom(decided))
        self.alike += len(_whom(decided) & would)
        self.more += len(would - _whom(decided))
        for action in decided:
            if action.verb == Verb.START:
                start_there(self.follower, action.row, action.parts)
            else:
                preempt_there(self.follower, action.row)
        return decided


def _whom(actions: list[Action]) -> set[tuple[Verb, int]]:
    return {(action.verb, action.row) for action in actions}


def follow(policy: str) -> Followed:
    if policy in LEARNED:
        pytest.importorskip("torch", reason="make learn")
    case = Case(workload("itp", 120), CLUSTERS["itp"], policy, oversized="drop")
    followed = Followed(case)
    Toy(case, followed).run()  # ty: ignore
    g = followed.follower.simulation.handle.state.g[0]
    assert (g["free"], g["pending"], followed.follower.ignored) == (g["gpus"], 0, 0)
    assert followed.decided >= 117
    return followed


AT_LENGTH = ("metarl", "dally-consolidated", "dally-manual", "dally-nowait", "dally-whole-nodes")
"""Those that take long, or differ from another in what they are told only."""
FOLLOWED = [one for one in LIVE if one not in (*ROUNDS, *BY_ITS_OWN_PAST) and ".py" not in one]


@pytest.mark.parametrize(
    "policy", [pytest.param(one, marks=[pytest.mark.slow] * (one in AT_LENGTH)) for one in FOLLOWED]
)
def test_would_decide_as_the_one_it_follows(policy: str) -> None:
    followed = follow(policy)
    assert (followed.alike, followed.more) == (followed.decided, 0)


@pytest.mark.parametrize(
    "policy", [pytest.param(one, marks=[pytest.mark.slow] * (one == "marl")) for one in BY_ITS_OWN_PAST]
)
def test_would_decide_alike_without_the_memory_of_its_own_decisions(policy: str) -> None:
    followed = follow(policy)
    assert followed.alike >= BY_ITS_OWN_PAST[policy] * followed.decided


def test_a_policy_in_python_without_a_copy_has_no_opinion() -> None:
    with pytest.raises(UsageError, match=r"has no copy\(\)"):
        follow("examples/my_policy.py:MyPolicy")
