"""The rate models: jobs run at a rate, or as chains of iterations (``docs/reference/semantics.md`` §9, §11, §12)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pointsman.cluster.congestion import UNCONGESTED
from pointsman.cluster.tree_cost import TreeCost
from pointsman.errors import UsageError
from pointsman.types import MAX_SHARING

RATE_MODELS = ("rates", "iterations", "goodput", "tree")

LEAST_B, MOST_PENALTY = 1e-4, 1000.0
"""ms/MB, and how many times as much a further transfer may cost: beyond, rates in whole 1/2^30 mean nothing."""
LEAST_COST, MOST_COST = 1e-3, 1000.0
"""Of a gang's communication, and of an edge: likewise."""


@dataclass(frozen=True)
class Iterations:
    """What a transfer of M megabytes (10^6 bytes) takes on a node where k are under way: ``a + k·b·M + (k-1)·η·M``."""

    a: float = 0.0
    """ms; 0 in the authors' simulator (Wang et al., arXiv 2002.10105)."""
    b: float = 0.856
    """ms/MB; 10 Gb Ethernet, from their simulator."""
    eta: float = 0.235
    """ms/MB; likewise."""
    sharing: int = MAX_SHARING
    """Jobs on a GPU at most, if its memory holds them; ours, theirs has no limit but memory."""

    def __post_init__(self) -> None:
        for name in ("a", "b", "eta"):
            if not 0 <= getattr(self, name) < 1e6:
                raise UsageError(f"rate model iterations: {name} = {getattr(self, name)} is no number from 0")
        if self.b < LEAST_B or self.eta > MOST_PENALTY * self.b:
            raise UsageError(
                f"rate model iterations: b = {self.b:g}, eta = {self.eta:g}; a transfer takes some time (b from "
                f"{LEAST_B:g} on), and not for ever (eta up to {MOST_PENALTY:g} b)"
            )
        if self.sharing not in range(1, MAX_SHARING + 1):
            raise UsageError(f"rate model iterations: sharing = {self.sharing}; a GPU has 1 to {MAX_SHARING} jobs")


@dataclass(frozen=True)
class Goodput:
    """Jobs of known models tune their batches to the GPUs they have (Qiao et al., OSDI 2021): ``semantics.md`` §11."""


@dataclass(frozen=True)
class Tree(TreeCost):
    """A gang pays for the racks, nodes and GPUs that it spans (Proximity-DRL, likely TopDRL): ``semantics.md`` §12."""

    clamp: float = 0.0
    """Below which the cost does not fall: with 1, no gang runs faster than its model would."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) <= MOST_COST:
                raise UsageError(
                    f"rate model tree: {field.name} = {getattr(self, field.name)} is no number from 0 to {MOST_COST:g}"
                )
        if self.rack + self.node + self.gpu + self.clamp < LEAST_COST:
            raise UsageError(f"rate model tree: a GPU costs something (its edges, or clamp, {LEAST_COST:g} at least)")


RateModel = Iterations | Goodput | Tree | None
"""None: jobs run at rates."""


_LAWS: dict[str, type[Iterations | Tree]] = {"iterations": Iterations, "tree": Tree}
"""Those with parameters."""


def parse_rate_model(text: str) -> RateModel:
    """``rates`` (None), ``goodput``, ``iterations``, ``tree``, or the latter with parameters:
    ``iterations:b=8.56,eta=0.7,sharing=4``, ``tree:clamp=1``.

    Raises:
        UsageError: something else.
    """
    name, _, settings = text.partition(":")
    if name not in RATE_MODELS or (settings and name not in _LAWS):
        raise UsageError(
            f"unknown rate model {text!r} (there are {', '.join(RATE_MODELS)}; iterations[:b=MS_PER_MB,...], "
            "tree[:clamp=COST,...])"
        )
    if name not in _LAWS:
        return Goodput() if name == "goodput" else None
    law = _LAWS[name]
    known = {field.name: field.type for field in fields(law)}
    given: dict[str, float] = {}
    for setting in settings.split(",") if settings else ():
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in known:
            raise UsageError(f"rate model {text!r}: no parameter {key!r} (there are {', '.join(known)})")
        if key in given:
            raise UsageError(f"rate model {text!r}: {key} is given twice")
        try:
            given[key] = int(value) if known[key] is int else float(value)
        except ValueError:
            raise UsageError(f"rate model {text!r}: {key} = {value!r} is no number") from None
    return law(**given)


def rate_model_of(
    policy: object,
    asked: str | None,
    contention: str,
    congestion: Mapping[str, float] = UNCONGESTED,
    gpu_sharing: int | None = None,
) -> RateModel:
    """The rate model of a run: what was asked for, or the policy's own, else ``rates``.

    Raises:
        UsageError: an unknown one, or one with which the policy, the contention or the congestion does not go.
    """
    own = getattr(policy, "rate_model", None)
    model = parse_rate_model(asked if asked is not None else own or "rates")
    check_rate_model(policy, name_of(model))
    if isinstance(model, Goodput | Tree) and (gpu_sharing or 1) > 1:
        raise UsageError(f"in the rate model {name_of(model)!r} nobody shares GPUs: leave out the sharing of GPUs")
    if isinstance(model, Goodput | Tree) and contention != "none":
        raise UsageError(f"in the rate model {name_of(model)!r} nobody shares links: leave out {contention!r}")
    if isinstance(model, Tree) and any(factor > 1 for factor in congestion.values()):
        raise UsageError("the rate model 'tree' has a network law of its own: for a dearer network give larger weights")
    if isinstance(model, Iterations) and contention != "none":
        raise UsageError(
            f"the rate model 'iterations' has a network law of its own: leave out contention {contention!r}"
        )
    if isinstance(model, Iterations) and any(factor > 1 for factor in congestion.values()):
        raise UsageError(
            "the rate model 'iterations' has a network law of its own: for a congested one give a larger b"
        )
    return model


def name_of(model: RateModel) -> str:
    """What it is called."""
    return "rates" if model is None else type(model).__name__.lower()


def check_rate_model(policy: object, model: str) -> None:
    """That the policy goes with a rate model of this name.

    Raises:
        UsageError: it does not.
    """
    title = getattr(policy, "name", type(policy).__name__)
    own = getattr(policy, "rate_model", None)
    if own not in (None, model):
        raise UsageError(f"policy {title!r} needs the rate model {own!r}")
    if model != "rates" and own is None and int(getattr(policy, "gpu_sharing", 1)) > 1:
        raise UsageError(f"policy {title!r} shares GPUs by what that does to rates, which are others in {model!r}")
    if model == "iterations" and getattr(policy, "needs_rates", False):
        raise UsageError(f"policy {title!r} reckons with rates, which jobs do not have in the rate model 'iterations'")
