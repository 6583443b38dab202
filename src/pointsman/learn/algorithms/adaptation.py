"""Adapting a network that judges choices to one regime, in a few steps, in environments made for that regime (Yang et
al., IEEE TCC 2023, adapt meta-learnt weights so; the steps are those of `counterfactual`, and ours).
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pointsman.learn.algorithms.counterfactual import Counterfactual, CounterfactualConfig
from pointsman.learn.algorithms.masking import NEVER
from pointsman.learn.algorithms.rollout import MASK, Rollout, tensors
from pointsman.learn.networks.choices import ChoicesNetwork

STEPS: Final = 3


class Adaptation:
    """Adapts a copy of `network`, in `environments` in step.

    Args:
        seed: of what is tried.
        decisions: at which choices are tried, for a step.
    """

    def __init__(self, network: Any, environments: Any, seed: int, decisions: int) -> None:
        config = CounterfactualConfig(num_envs=environments.num_envs, decisions=decisions)
        rollout = Rollout(environments, config.gamma)
        self._learner = Counterfactual(config, deepcopy(network), rollout, seed, torch.device("cpu"))

    @property
    def network(self) -> ChoicesNetwork:
        """As it is now."""
        return self._learner.network

    def step(self) -> dict[str, float]:
        """Try choices and learn from them; returns metrics."""
        return self._learner.iterate(0.0)

    def query(self) -> dict[str, Tensor]:
        """The gradient of the error on decisions not learnt from, at the weights as they are now: what first-order
        MAML goes down (Finn et al., ICML 2017).
        """
        self._learner.try_choices()
        return gradient(self._learner)


def gradient(learner: Counterfactual) -> dict[str, Tensor]:
    """Computes the gradient of the mean square error on the batch of `learner`, by weight."""
    learner.optimiser.zero_grad()
    learner.loss().backward()
    named = learner.network.named_parameters()
    return {name: torch.zeros_like(w) if w.grad is None else w.grad.clone() for name, w in named}


class Gain(NamedTuple):
    """What choices are worth beside the scorer's."""

    shorter: float
    """By what share of it they shorten mean JCT."""
    error: float
    """Standard error of that; infinite in a single episode."""


def gains(networks: Sequence[Any], environments: Any) -> list[Gain]:
    """Measures what each network gains, in the first episodes of the pool of `environments`, one in each."""
    usual = _mean_jcts_s(networks[0], environments, by_scorer=True)
    shorter = [1.0 - _mean_jcts_s(network, environments, by_scorer=False) / usual for network in networks]
    return [Gain(float(s.mean()), float(s.std(ddof=1) / np.sqrt(len(s))) if len(s) > 1 else np.inf) for s in shorter]


def _mean_jcts_s(network: ChoicesNetwork, environments: Any, by_scorer: bool) -> NDArray[np.float64]:
    """(N,)"""
    many = environments.num_envs
    now, _ = environments.reset(seed=0, options={"episodes": range(many)})
    found, over = np.zeros(many), np.zeros(many, bool)
    while not over.all():
        now, _, ended, cut, info = environments.step(_actions(network, now, by_scorer))
        just = (ended | cut) & ~over
        if just.any():
            found[just] = info["episode_metrics"]["jct_mean_s"][just]
        over |= just
    return found


@torch.inference_mode()
def _actions(network: ChoicesNetwork, now: Mapping[str, Any], by_scorer: bool) -> NDArray[np.int64]:
    """(N,)"""
    seen = tensors(now, network.inputs, torch.device("cpu"))
    if by_scorer:
        return network.usual(seen).numpy()
    return np.where(np.asarray(now[MASK]) != 0, network(seen)[0].numpy(), NEVER).argmax(1)
