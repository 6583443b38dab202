"""The networks, each a file with its configuration: a dict of observations becomes logits of actions and a value."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.learn.networks.shapes import Shapes

if TYPE_CHECKING:
    from pointsman.learn.config import Config
    from pointsman.learn.networks.actor_critic import ActorCritic

NETWORKS = {
    "topdrl": "pointsman.learn.networks.topdrl:TopDrlNetwork",
    "deeprm": "pointsman.learn.networks.deeprm:DeepRmNetwork",
    "choices": "pointsman.learn.networks.choices:ChoicesNetwork",
    "valued-choices": "pointsman.learn.networks.valued_choices:ValuedChoicesNetwork",
    "marl": "pointsman.learn.networks.marl:MarlNetwork",
    "marl-actors": "pointsman.learn.networks.marl_actors:ActorsNetwork",
    "proximity": "pointsman.learn.networks.proximity:ProximityNetwork",
}


def network_class(name: str) -> "type[ActorCritic]":
    """The network of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in NETWORKS:
        raise UsageError(f"unknown network {name!r:.60} ({did_you_mean(name, NETWORKS)})")
    module, _, attribute = NETWORKS[name].partition(":")
    return getattr(import_module(module), attribute)


def make_network(name: str, config: "Config", shapes: Shapes, actions: int, seed: int) -> "ActorCritic":
    """A network with first weights by `seed`; torch's own generator is left as it was."""
    import torch

    kind: Any = network_class(name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(config, shapes, actions)
