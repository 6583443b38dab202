"""Probabilities of the actions that are allowed; the others have none, exactly."""

import torch
from torch import Tensor

NEVER = -1e9
"""A logit whose probability is 0 in float32, and which is no infinity to make NaNs of."""


def log_probabilities(logits: Tensor, mask: Tensor) -> Tensor:
    """(B, actions) of logits and a mask that is true where an action is allowed."""
    return torch.log_softmax(torch.where(mask, logits, NEVER), -1)


def entropy(logs: Tensor) -> Tensor:
    """(B,) in nats, of log probabilities (B, actions)."""
    return -(logs.exp() * logs).sum(-1)


def of_actions(logs: Tensor, actions: Tensor) -> Tensor:
    """(B,) log probabilities of the actions (B,) taken."""
    return logs.gather(1, actions.unsqueeze(1)).squeeze(1)


def draw(logs: Tensor, generator: torch.Generator) -> Tensor:
    """(B,) actions drawn by log probabilities (B, actions) on the CPU (exponential races; Gumbel, 1954)."""
    races = torch.empty_like(logs).exponential_(generator=generator)
    return (logs - races.log()).argmax(-1)
