"""How much jobs on different GPUs of one node slow each other: the law, and what models take of a node.

A worker's computing takes ``max(1, load / capacity) ^ theta`` times as long for each resource that the GPUs of a node
share, and ``1 + kappa * theta * (what other jobs move) / capacity`` times for the path to the node's memory
(``docs/reference/semantics.md`` §15).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import exp
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from pointsman.errors import UsageError
from pointsman.inputs.config_file import read_document
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file, split_settings
from pointsman.inputs.option_types import no_switch
from pointsman.speed.interference.learned.file import is_learned
from pointsman.speed.profiles.catalogue import Catalogue
from pointsman.speed.profiles.profiles import NodeDemand

SHIPPED: Final = Path(__file__).parent / "nodes" / "table.yaml"
Kappa = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False), BeforeValidator(no_switch)]
Sigma = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(no_switch)]
Seed = Annotated[int, Field(ge=0, lt=2**32), BeforeValidator(no_switch)]
LIMITS: Final = {
    "kappa": (TypeAdapter(Kappa), "number from 0 to 1000"),
    "sigma": (TypeAdapter(Sigma), "number from 0 to 1"),
    "seed": (TypeAdapter(Seed), "whole number from 0 to 4294967295"),
}
"""What may be set behind the source, and what each must be."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NodeLawSpec(_Record):
    """The parameters of the law."""

    source: Annotated[str, Field(min_length=1)]
    kappa: Kappa
    """How strongly other jobs' traffic slows a worker."""
    capped_mb_per_s: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), BeforeValidator(no_switch)]
    """What a GPU counts for at most in that traffic, in 10^6 bytes per second."""
    sigma: Sigma = 0.0
    """How far models slow each other beyond the law: see `pair_residual`."""
    seed: Seed = 0
    """By which that is drawn."""
    models: dict[str, NodeDemand] | None = None
    """What models take of a node, instead of what profiles say; models that are not here take nothing."""


class Metadata(_Record):
    """The file's own name."""

    name: Annotated[str, Field(min_length=1)]


class NodeLawFile(_Record):
    """A file for ``--node-interference`` (``docs/guides/node-interference.md``)."""

    apiVersion: Literal["pointsman/v1"]
    kind: Literal["NodeInterference"]
    metadata: Metadata
    spec: NodeLawSpec


@dataclass(frozen=True)
class NodeLaw:
    """The law with the demands of models, by canonical name."""

    name: str
    source: str
    kappa: float
    capped_mb_per_s: float
    demands: Mapping[str, NodeDemand]
    sigma: float = 0.0
    seed: int = 0


def pair_residual(seed: int, sigma: float, model: str, beside: str) -> float:
    """How many times as long `model` takes beside `beside` than the law of resources says: exp(max(0, N(0, sigma))).

    Drawn from a hash of the seed and both names, so that it depends on no other model. Seed 0 to 2^32 - 1.
    """
    digest = sha256(f"{seed}|{model}|{beside}".encode()).digest()
    uniform = (int.from_bytes(digest[:6], "big") + 0.5) / 2**48
    return exp(max(0.0, sigma * NormalDist().inv_cdf(uniform)))


def load_node_law(text: str, catalogue: Catalogue) -> NodeLaw:
    """What ``--node-interference TEXT`` means: ``table`` or a file, either with ``:kappa=K,sigma=S,seed=N`` behind it,
    or some of these.

    Raises:
        UsageError: it is neither, a parameter is out of its limits, or the file is unreadable or wrong (file, line,
            cause and fix).
    """
    word, settings = split_settings(text)
    if settings is not None and is_learned(word):
        raise UsageError(f"node interference {text!r}: {word} was learnt and has no parameters (leave out :{settings})")
    law = _file(SHIPPED, word, catalogue) if word == "table" else _own(word, text, catalogue)
    return law if settings is None else replace(law, **_parameters(settings, text))


def _own(word: str, text: str, catalogue: Catalogue) -> NodeLaw:
    if not names_file(word):
        if Path(word).suffix:
            raise UsageError(f"{word}: there is no such file of node interference")
        hint = did_you_mean(word, ("none", "table"))
        raise UsageError(f"unknown node interference {text!r} ({hint}; or a file: docs/guides/node-interference.md)")
    return _file(Path(word), word, catalogue)


def _parameters(settings: str, text: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for setting in settings.split(","):
        key, equals, value = (part.strip() for part in setting.partition("="))
        if key not in LIMITS or not equals:
            there_are = f"there are {', '.join(LIMITS)}, as in table:kappa=4"
            raise UsageError(f"node interference {text!r}: no parameter {key!r} ({there_are})")
        if key in given:
            raise UsageError(f"node interference {text!r}: {key} is given twice")
        limits, said = LIMITS[key]
        try:
            given[key] = limits.validate_python(value)
        except ValidationError:
            raise UsageError(f"node interference {text!r}: {key} = {value!r} is no {said}") from None
    return given


def _file(path: Path, name: str, catalogue: Catalogue) -> NodeLaw:
    document = read_document(path, NodeLawFile)
    spec = document.content.spec
    if spec.models is None:
        demands = {name: model.node for name, model in catalogue.models.items() if model.node is not None}
        return _law(name, spec, demands)
    for model in spec.models:
        if not catalogue.knows(model) or catalogue.model_name(model) != model:
            where = document.where("spec", "models", model)
            raise UsageError(f"{where}: unknown model {model!r} ({did_you_mean(model, catalogue.models)})")
    return _law(name, spec, spec.models)


def _law(name: str, spec: NodeLawSpec, demands: Mapping[str, NodeDemand]) -> NodeLaw:
    return NodeLaw(name, spec.source, spec.kappa, spec.capped_mb_per_s, demands, spec.sigma, spec.seed)
