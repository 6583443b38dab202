"""A network trained as Harmony trains its own (Bao, Peng and Wu, INFOCOM 2019): an actor and a critic improve by policy
gradients in episodes whose rewards a model of interference forecasts, and explore at random on the cluster.

It is a baseline of `metarl`: the weights go on from run to run, and nothing is meta-learnt. Ours are PPO as the policy
gradient, the features, and the first weights, by which the actor decides as `scorer`.
"""

from typing import Any, Final

import torch

from pointsman.learn.algorithms.ppo import Ppo, PpoConfig
from pointsman.learn.algorithms.rollout import Rollout
from pointsman.learn.meta.weights import LearntWeights
from pointsman.learn.networks import make_network
from pointsman.learn.networks.choices import ChoicesConfig
from pointsman.learn.policies.adaptation.meta_network import NETWORK, observation

CAUTION: Final = 3.0
"""How much more the actor favours the scorer's choice at first, as a logit."""
UPDATES: Final = 8
"""Updates of the network after each run."""
EPSILON: Final = {"explore": 0.05, "directed": False, "bound": 1.0, "budget": 1.0}
"""One decision in twenty goes to any candidate that is forecast to take at most twice as long as the best."""


class ActorCriticWeights(LearntWeights):
    """The weights of the actor and the critic."""

    gamma = 0.99
    exploration = EPSILON

    def __init__(self, seed: int) -> None:
        seen, config = observation(), ChoicesConfig(caution=CAUTION)
        super().__init__(make_network("valued-choices", config, seen.shapes, seen.actions, seed))
        self._actor = make_network(NETWORK, config, seen.shapes, seen.actions, seed)

    @property
    def network(self) -> Any:
        """The actor alone."""
        self._actor.load_state_dict(self.learning.actor)
        return self._actor.eval()

    def learn(self, environments: Any, seed: int, decisions: int, done: float) -> dict[str, float]:
        """Update the weights in `environments`, `UPDATES` times, each from `decisions` decisions in every one of them.
        Returns metrics of the last update.
        """
        self.regimes += 1
        config = PpoConfig(num_envs=environments.num_envs, steps=decisions)
        learner = Ppo(config, self.learning, Rollout(environments, self.gamma), seed, torch.device("cpu"))
        for _ in range(UPDATES):
            found = learner.iterate(done)
        return {name: round(found[name], 5) for name in ("explained", "entropy", "divergence")}
