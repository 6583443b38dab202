"""The baseline of `metarl` that is trained as Harmony's network is: an actor and a critic, by rewards."""

import pytest

pytest.importorskip("torch")

import numpy as np
import torch

from pointsman.learn.algorithms.rollout import MASK, tensors
from pointsman.learn.meta.actor_critic import ActorCriticWeights
from tests.learn.policies.adaptation.test_adaptation import environments

CPU = torch.device("cpu")


def test_before_training_it_decides_as_the_scorer() -> None:
    actor, many = ActorCriticWeights(seed=1).network, environments()
    now, _ = many.reset(seed=1)
    for _ in range(200):
        seen = tensors(now, actor.inputs, CPU)
        logits = np.where(now[MASK] != 0, actor(seen)[0].detach().numpy(), -np.inf)
        usual = actor.usual(seen).numpy()
        may = np.take_along_axis(now[MASK], usual[:, None], 1)[:, 0] != 0  # not where an episode has ended
        assert (logits.argmax(1) == usual)[may].all()
        now, *_ = many.step(usual)


@pytest.mark.slow
def test_the_critic_comes_to_foresee_what_follows() -> None:
    weights = ActorCriticWeights(seed=1)
    made = environments(4)
    found = [weights.learn(made, seed, decisions=256, done=0.0)["explained"] for seed in range(3)]
    assert found[-1] > max(found[0], 0.2)


def test_the_actor_moves_and_the_policy_uses_what_it_says() -> None:
    weights = ActorCriticWeights(seed=1)
    before = {name: w.clone() for name, w in weights.network.state_dict().items()}
    weights.learn(environments(), seed=1, decisions=32, done=0.0)
    after = weights.network.state_dict()
    assert set(after) == set(before)
    assert any(not torch.equal(w, before[name]) for name, w in after.items())
    for name, w in after.items():
        assert torch.equal(w, weights.learning.state_dict()[name]), name
    assert weights.regimes == 1
