"""The base models and factors there are, by name: a new one is a class in a file of its own, and a line here."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import nearest

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from pointsman.engine.rate_models.contract import BaseModel, Factor

BASE_MODELS: dict[str, str] = {
    "rates": "pointsman.engine.rate_models.base.rates:Rates",
    "iterations": "pointsman.engine.rate_models.base.iterations:Iterations",
    "goodput": "pointsman.engine.rate_models.base.goodput:Goodput",
    "tree": "pointsman.engine.rate_models.base.tree:Tree",
}
FACTORS: dict[str, str] = {
    "gpu-sharing": "pointsman.engine.rate_models.factors.gpu_sharing:GpuSharing",
    "node-interference": "pointsman.engine.rate_models.factors.node_interference:NodeInterference",
    "forecast-interference": "pointsman.engine.rate_models.factors.forecast_interference:ForecastInterference",
}
"""In the order in which they slow a job."""


def base_models() -> "dict[str, type[BaseModel]]":
    """The base models by name."""
    return {name: _load(where) for name, where in BASE_MODELS.items()}


def factors() -> "dict[str, type[Factor]]":
    """The factors by name."""
    return {name: _load(where) for name, where in FACTORS.items()}


def _load(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def meanings() -> dict[str, str]:
    """What each base model means, by the form in which it is given."""
    return {model.form: model.meaning for model in base_models().values()}


def options_of_factors() -> "dict[str, tuple[Any, FieldInfo]]":
    """The options of a run that factors add, each with its type."""
    return {name: field for factor in factors().values() for name, field in factor.options.items()}


def parse_rate_model(text: str) -> "BaseModel":
    """``rates``, ``goodput``, ``iterations``, ``tree``, or one with parameters: ``iterations:b=8.56,sharing=4``.

    Raises:
        UsageError: something else.
    """
    name, colon, settings = text.partition(":")
    models = base_models()
    if name not in models:
        forms, near = ", ".join(model.form for model in models.values()), nearest(name, models)
        meant = f"did you mean {near!r}? " if near else ""
        raise UsageError(f"unknown rate model {text!r:.60} ({meant}there are {forms})")
    if colon and not settings.strip():
        raise UsageError(f"rate model {text!r}: give parameters after the colon, or leave it out")
    return models[name].parse(settings)


def base_model_of(
    policy: object,
    asked: str | None,
    contention: str = "none",
    congestion: Mapping[str, float] | None = None,
    gpu_sharing: int | None = None,
) -> "BaseModel":
    """The base model of a run: what was asked for, or the policy's own, else ``rates``.

    Raises:
        UsageError: an unknown one, or one with which the policy or another option does not go.
    """
    own = getattr(policy, "rate_model", None)
    model = parse_rate_model(asked if asked is not None else own or "rates")
    model.check_policy(policy)
    model.check_gpu_sharing(gpu_sharing)
    model.check_network(contention, congestion or {})
    return model


def factors_of(options: Mapping[str, Any], policy: object, base: "BaseModel") -> "Sequence[Factor]":
    """The factors of a run with these options.

    Raises:
        UsageError: an option is wrong, or does not go with the policy or the base model.
    """
    found = (factor.chosen(options, policy, base) for factor in factors().values())
    return [factor for factor in found if factor is not None]
