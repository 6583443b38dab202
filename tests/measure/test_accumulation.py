"""Models learn the same with gradient accumulation as without it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

WHOLE = 1
CUTS = (2, 4, 8, 5, (1,), (2, 3, 11))
"""Equal parts, five that cannot be equal, and parts as uneven as 2, 1, 8 and the rest."""
STEPS = 5
CLOSE = 1e-6


def in_double(name: str) -> Any:
    """The same training every time, in double precision."""
    from pointsman.measure.models import tiny

    torch.manual_seed(1)
    recipe = getattr(tiny, name)(16)
    training = recipe.start()
    training.model.double()
    training.inputs = training.inputs.double() if training.inputs.is_floating_point() else training.inputs
    return training


def gradients(training: Any) -> dict[str, np.ndarray]:
    return {name: p.grad.numpy().copy() for name, p in training.model.named_parameters()}


def parameters(training: Any) -> dict[str, np.ndarray]:
    return {name: p.detach().numpy().copy() for name, p in training.model.named_parameters()}


def learnt(name: str, cut: Any) -> tuple[float, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The loss and gradients of the first step, and the parameters after some."""
    training = in_double(name)
    loss = float(training.backward(cut))
    first = gradients(training)
    for _ in range(STEPS):
        training.backward(cut)
        training.optimizer.step()
    return loss, first, parameters(training)


@pytest.mark.parametrize("name", ["tiny_mlp", "tiny_transformer"])
def test_a_model_learns_what_it_learns_without_accumulation(name: str) -> None:
    before = parameters(in_double(name))
    loss, wanted, after = learnt(name, WHOLE)
    for key, gradient in wanted.items():
        assert gradient.dtype == np.float64
        assert np.linalg.norm(gradient) > 1e-5
        assert np.abs(after[key] - before[key]).max() > 1e-5, f"{name} has not learnt {key}"
    for cut in CUTS:
        found_loss, found, found_after = learnt(name, cut)
        assert found_loss == pytest.approx(loss, rel=CLOSE)
        assert all(are_close(found[key], wanted[key]) for key in wanted), cut
        assert all(are_close(found_after[key], after[key]) for key in after), cut


def of_means(training: Any) -> None:
    """Uneven parts that count the same."""
    parts = zip(training.inputs.tensor_split((5,)), training.targets.tensor_split((5,)), strict=True)
    for inputs, targets in parts:
        (torch.nn.functional.cross_entropy(training.model(inputs), targets) / 2).backward()


def test_uneven_parts_that_count_the_same_are_noticed() -> None:
    assert not have_close_gradients(lambda one: one.backward(), of_means)


def test_a_layer_that_looks_at_a_part_as_if_it_were_all_is_noticed() -> None:
    def normalized(cut: int) -> Callable[[Any], object]:
        def backward(one: Any) -> object:
            one.model.insert(1, torch.nn.BatchNorm1d(512, dtype=torch.float64))
            return one.backward(cut)

        return backward

    assert have_close_gradients(normalized(1), normalized(1))
    assert not have_close_gradients(normalized(1), normalized(4))


def have_close_gradients(one: Callable[[Any], object], other: Callable[[Any], object]) -> bool:
    both = in_double("tiny_mlp"), in_double("tiny_mlp")
    one(both[0])
    other(both[1])
    found, wanted = map(gradients, both)
    return all(are_close(found[key], wanted[key]) for key in wanted)


def are_close(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Each number to 1e-6, and all together to 1e-6 of their length."""
    off = found - wanted
    return bool(np.abs(off).max() <= CLOSE and np.linalg.norm(off) <= CLOSE * np.linalg.norm(wanted))
