"""What a training needs to go on as if it had never stopped, as plain tensors by name."""

from collections.abc import Mapping

import torch
from torch import Tensor

from pointsman.errors import InputError

NETWORK, OPTIMISER, GENERATOR = "network.", "optimiser.", "generator"
State = dict[str, Tensor]


def learner_state(network: torch.nn.Module, optimiser: torch.optim.Optimizer, generator: torch.Generator) -> State:
    """Copies of the weights, of the optimiser's moments, and the state of the generator."""
    weights = {f"{NETWORK}{name}": tensor for name, tensor in network.state_dict().items()}
    moments = {
        f"{OPTIMISER}{number}.{name}": tensor
        for number, of_weight in optimiser.state_dict()["state"].items()
        for name, tensor in of_weight.items()
    }
    copies = {name: tensor.detach().cpu().clone() for name, tensor in (weights | moments).items()}
    return copies | {GENERATOR: generator.get_state()}


def restore_learner(
    state: Mapping[str, Tensor],
    network: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    generator: torch.Generator,
) -> None:
    """Be where `learner_state` was taken.

    Raises:
        InputError: it is the state of something else.
    """
    weights = {name.removeprefix(NETWORK): tensor for name, tensor in state.items() if name.startswith(NETWORK)}
    moments: dict[int, dict[str, Tensor]] = {}
    try:
        for name, tensor in state.items():
            if name.startswith(OPTIMISER):
                number, _, key = name.removeprefix(OPTIMISER).partition(".")
                moments.setdefault(int(number), {})[key] = tensor
        network.load_state_dict(weights)
        optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
        for weight, of_weight in optimiser.state.items():
            for name, tensor in of_weight.items():
                if tensor.shape == weight.shape:
                    # in memory as the weights are, which fused optimisers take for granted
                    of_weight[name] = torch.empty_like(weight).copy_(tensor)
        generator.set_state(state[GENERATOR])
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        why = str(error).splitlines()[0]
        raise InputError(
            f"the state of the training does not fit it: {why}", fix="train anew, without --resume"
        ) from None


def weights_of(state: Mapping[str, Tensor]) -> State:
    """The network's part of a state."""
    return {name.removeprefix(NETWORK): tensor for name, tensor in state.items() if name.startswith(NETWORK)}
