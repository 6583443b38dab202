"""The models that ship have the published numbers of parameters, and train."""

from importlib import import_module
from typing import Any

import pytest

from pointsman.measure.job.steps import gradient_bytes, make_step
from pointsman.measure.messages import Setting
from pointsman.measure.models.catalogue import MODELS

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

PUBLISHED = {
    "resnet18": 11.17e6,  # He et al., CIFAR form
    "resnet50": 25.56e6,  # torchvision
    "vgg16": 138.36e6,
    "vit_b16": 86.57e6,
    "bert": 108.89e6,  # BertForQuestionAnswering: 109.48 M without its pooler, and two outputs
    "gpt2": 124.44e6,
    "lstm": 13.99e6,
    "ncf": (6_040 + 3_706) * (32 + 4 * 32) + 43_297,  # embeddings, and the layers above them
    "dcgan": 3_576_704 + 2_765_568,  # PyTorch's tutorial: generator and discriminator
}
QUICK = ("resnet18", "lstm", "ncf", "dcgan", "tiny_mlp", "tiny_transformer")
"""Models that train on a CPU within seconds."""


def training(name: str, batch: int, **how: Any) -> Any:
    recipe = getattr(import_module(f"pointsman.measure.models.{MODELS[name].module}"), name)(batch)
    return recipe.start(**how)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_published_number_of_parameters(name: str) -> None:
    with torch.device("meta"):
        parameters = training(name, 1, device="meta").parameters()
    found = sum(p.numel() for p in parameters)
    assert found == MODELS[name].parameters
    assert found == pytest.approx(PUBLISHED.get(name, found), rel=1e-3)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == "dcgan" else pytest.mark.slow) for n in MODELS])
def test_a_step_has_shapes_that_fit_in_parts_too(name: str) -> None:
    """On PyTorch's device without data, where even large models take a second or two."""
    with torch.device("meta"):
        one = training(name, 3, parts=2, device="meta")
        one()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in one.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_step_moves_all_parameters(name: str) -> None:
    torch.manual_seed(1)
    one = training(name, 4)
    before = [p.detach().clone() for p in one.parameters()]
    one()
    moved = [not torch.equal(p, b) for p, b in zip(one.parameters(), before, strict=True)]
    assert all(moved)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_model_learns_its_batch_and_goes_on_from_a_checkpoint(precision: str) -> None:
    torch.manual_seed(1)
    one = training("tiny_mlp", 16, precision=precision)
    first = float(one.backward())
    for _ in range(30):
        one()
    assert float(one.backward()) < 0.9 * first
    other = training("tiny_mlp", 16, precision=precision)
    other.inputs, other.targets = one.inputs, one.targets
    other.load_state_dict(one.state_dict())
    assert float(other.backward()) == float(one.backward())


def test_bf16_computes_in_bf16_and_keeps_weights_in_fp32() -> None:
    one, seen = training("tiny_mlp", 4, precision="bf16"), []
    one.model[0].register_forward_hook(lambda *given: seen.append(given[-1].dtype))
    one()
    assert seen == [torch.bfloat16]
    assert {p.grad.dtype for p in one.parameters()} == {torch.float32}


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown precision 'fp8': one of fp32, bf16"):
        training("tiny_mlp", 1, precision="fp8")


def test_a_name_becomes_a_step_that_tells_its_gradients() -> None:
    step = make_step(Setting("tiny_mlp", 8, 2), "cpu")
    step()
    assert gradient_bytes(step) == 4 * MODELS["tiny_mlp"].parameters


def test_both_models_of_dcgan_go_on_from_a_checkpoint() -> None:
    one, other = training("dcgan", 2), training("dcgan", 2)
    one()
    other.load_state_dict(one.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
