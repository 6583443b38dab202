"""Errors of the model profiles that policies are told: lognormal, drawn once for each model and what it is of."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.rate_models.rates import FINEST
from pointsman.engine.rate_models.speeds import Speeds, Told, rounded
from pointsman.errors import UsageError
from pointsman.types import LOCALITIES, Profile

if TYPE_CHECKING:
    from pointsman.engine.rate_models.named_models import NamedModels

WITH_ERROR: Final[tuple[Profile, ...]] = ("places", "pairs", "goodput")
"""What of profiles can be told with an error."""
_DRAWS = 0x70726F66


def check_profile_error(policy: Any, sigma: float) -> None:
    """That all that the policy is told of profiles can be told with an error, if it is to be.

    Raises:
        UsageError: something cannot.
    """
    exact = [what for what in getattr(policy, "profiles", ()) if what not in WITH_ERROR]
    if sigma > 0.0 and exact:
        raise UsageError(
            f"policy {policy.name!r} uses profiles of {' and '.join(exact)}, to which --profile-error adds no "
            f"error (it does to {', '.join(WITH_ERROR)}): leave the option or the policy out"
        )


def told_profiles(policy: Any, sigma: float, named_models: bool) -> str:
    """What the policy is told of profiles: ``none`` (it uses none, or no job names a model), ``true`` or
    ``lognormal:SIGMA``.
    """
    if not getattr(policy, "profiles", ()) or not named_models:
        return "none"
    return f"lognormal:{sigma:g}" if sigma > 0.0 else "true"


def with_error(speeds: Speeds, named: "NamedModels", sigma: float, seed: int) -> Speeds:
    """Adds the speeds that policies are told wrong: each rate by place, goodput by place and slowdown of a pair
    times ``exp(sigma * z)``, with ``z`` standard normal by `seed`, model and place, or pair of models.
    """
    if named.nameless:
        named.assumptions.append("no job names a model, so there are no profiles for --profile-error to change")
        return speeds
    types = len(named.layout.gpu_types)
    names = [None if model is None else named.catalogue.model_name(model) for model, *_ in named.demands]
    places = np.repeat([_factors(sigma, seed, (name,), LOCALITIES) for name in names], types, axis=0)
    return replace(
        speeds,
        told=Told(
            rates=_wrong(speeds.rates, places),
            goodputs=_goodputs(speeds, places),
            slowdowns=_slowdowns(speeds, [names[row // types] for row in range(len(speeds.models))], sigma, seed),
        ),
    )


def _factors(sigma: float, seed: int, names: tuple[str | None, ...], many: int) -> NDArray[np.float64]:
    """(many,) what is told over what is true, of one model or an ordered pair; 1 where one is not known."""
    if None in names:
        return np.ones(many)
    letters = np.frombuffer(" ".join(map(str, names)).encode(), np.uint8)
    return np.exp(sigma * np.random.default_rng([seed, _DRAWS, len(names), *letters]).standard_normal(many))


def _wrong(rates: NDArray[np.float64], factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """These rates times `factors`; one that is not 0 never becomes it."""
    return np.where(rates > 0.0, np.maximum(rounded(rates * factors), 1.0 / FINEST), 0.0)


def _goodputs(speeds: Speeds, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Goodputs of any number of GPUs at a place are wrong alike."""
    if not speeds.stages:
        return speeds.goodputs
    table = speeds.goodputs.reshape(len(places), speeds.stages, -1, LOCALITIES)
    return _wrong(table, places[:, None, None, :]).reshape(speeds.goodputs.shape)


def _slowdowns(speeds: Speeds, names: list[str | None], sigma: float, seed: int) -> NDArray[np.float64]:
    """ξ of pairs on each type of GPU: those of a pair are wrong alike, and never below 1."""
    kinds = speeds.slowdowns.shape[1]
    of_kind: list[str | None] = [None] * kinds
    for kind, name in zip(speeds.models["kind"].tolist(), names, strict=True):
        of_kind[kind] = name if kind else None
    wrong = np.ones((kinds, kinds))
    for a, mine in enumerate(of_kind):
        for b, beside in enumerate(of_kind):
            wrong[a, b] = _factors(sigma, seed, (mine, beside), 1)[0]
    return np.maximum(1.0, rounded(speeds.slowdowns.reshape(-1, kinds, kinds) * wrong).reshape(-1, kinds))
