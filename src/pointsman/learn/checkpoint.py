"""Checkpoints: a directory of weights (``policy.safetensors``, or ``policy.json`` if they are few numbers) and of what
they are for (``policy.yaml``).

Neither file can carry code. What does not fit is refused before anything is built from it: another format, an unknown
network, another observation, weights of other names, shapes or types.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pointsman.errors import InputError, UsageError
from pointsman.inputs.config_file import read_document
from pointsman.inputs.file_name import names_folder
from pointsman.inputs.messages import wording
from pointsman.inputs.output_path import replace_files
from pointsman.learn.networks import network_class

if TYPE_CHECKING:
    from torch import Tensor

    from pointsman.learn.networks.actor_critic import ActorCritic

FORMAT = 1
CARD, WEIGHTS, PARAMETERS = "policy.yaml", "policy.safetensors", "policy.json"
STATE, METRICS, SEARCH = "training.safetensors", "metrics.jsonl", "training.json"
"""What a training keeps beside them, to go on and to look at."""
MAX_WEIGHTS_BYTES = 1 << 30


class ObservationSpec(BaseModel):
    """What a network is shown: by the name of what builds it, and the shapes of its parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """The name of the module that builds it."""
    version: int = 1
    """The version of what its numbers mean."""
    shapes: dict[str, tuple[int, ...]]
    actions: int = Field(ge=1, le=1 << 20)
    """How many choices there are."""

    @property
    def digest(self) -> str:
        """The SHA-256 of all fields, in hexadecimal."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()


class Named(BaseModel):
    """Something of ours by its name, and its settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    config: dict[str, Any] = Field(default_factory=dict)


class Card(BaseModel):
    """``policy.yaml``: everything about a policy but its weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    agent: str
    """Which policy this is: topdrl, deeprm, proximity-drl."""
    network: Named
    observation: ObservationSpec
    observation_sha256: str
    algorithm: Named
    environment: dict[str, Any] = Field(default_factory=dict)
    """What it was trained in."""
    cluster: dict[str, Any] = Field(default_factory=dict)
    """Where: racks, nodes, GPUs."""
    seed: int
    steps: int = Field(ge=0)
    """Steps of the environments that it has been trained for."""
    pointsman: str
    """Version of the code that trained it."""
    torch: str = ""
    hardware: str = ""
    command: str = ""


class _Format(BaseModel):
    model_config = ConfigDict(extra="ignore")
    format: int


@dataclass(frozen=True)
class Checkpoint:
    """A policy as it was trained."""

    card: Card
    network: "ActorCritic"


def save_policy(directory: Path, card: Card, tensors: "Mapping[str, Tensor]") -> None:
    """Write a checkpoint, or replace that one; its files are there whole or not at all."""
    replace_files(policy_files(directory, card, tensors))


def policy_files(directory: Path, card: Card, tensors: "Mapping[str, Tensor]") -> dict[Path, bytes]:
    """The files of a checkpoint."""
    return {directory / WEIGHTS: tensors_bytes(tensors), directory / CARD: card_yaml(card).encode()}


def card_yaml(card: Card) -> str:
    """What a policy is, as ``policy.yaml``."""
    import yaml

    return yaml.safe_dump(card.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def tensors_bytes(tensors: "Mapping[str, Tensor]") -> bytes:
    """Tensors as safetensors."""
    from safetensors.torch import save

    return save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})


def read_card(directory: Path) -> Card:
    """What the policy in `directory` is, checked as far as it can be without its weights.

    Raises:
        InputError: it is no checkpoint, or one of another format, or its parts do not go together.
    """
    if not names_folder(directory):
        _refuse(directory, "there is no such directory", "a checkpoint is what 'pointsman train -o DIR' wrote")
    path = directory / CARD
    if not path.is_file():
        _refuse(directory, f"no {CARD} in it", "a checkpoint is what 'pointsman train -o DIR' wrote")
    try:
        found = read_document(path, _Format).content.format
        if found != FORMAT:
            age = "an older" if found < FORMAT else "a newer"
            _refuse(path, f"written by {age} Pointsman (format {found}; this one reads {FORMAT})", "train it again")
        card = read_document(path, Card).content
    except UsageError as error:
        raise InputError(str(error)) from None
    if card.observation.digest != card.observation_sha256:
        _refuse(path, "observation_sha256 is not that of its observation", "train it again")
    return card


def check_same(before: Card, now: Card, directory: Path) -> None:
    """That a training goes on with what it began with; the code and the machine may be others.

    Raises:
        InputError: it does not.
    """
    theirs, ours = before.model_dump(mode="json"), now.model_dump(mode="json")
    for name in ("agent", "seed", "algorithm", "network", "environment", "cluster", "observation"):
        if theirs[name] == ours[name]:
            continue
        cause = f"{name} was {_describe_change(theirs[name], ours[name])} when this training began"
        raise InputError(cause, path=directory / CARD, fix="give the same again, or train anew elsewhere")


def _describe_change(before: Any, now: Any) -> str:
    """Which part of something changed, and from what: ``config.clip = 0.2``."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return repr(before)
    name = next(key for key in before | now if before.get(key) != now.get(key))
    inside = _describe_change(before.get(name), now.get(name))
    return f"{name}.{inside}" if " = " in inside else f"{name} = {inside}"


def observation_of(card: Card, directory: Path, own: str = "") -> ObservationSpec:
    """The observation that a policy is for, as this code builds it; one of the user's is built by the file `own`.

    Raises:
        InputError: there is none of that name. UsageError: `own` is no such file.
    """
    from pointsman.learn.environments.loading import shapes_of, version_of

    theirs = card.observation
    if theirs.name.endswith(".py") and not own:  # which may be any code: the user who copied the checkpoint must say so
        _refuse(directory / CARD, f"trained on your own observation {theirs.name}", "give its file as `observation`")
    try:
        shapes, version = shapes_of(own or theirs.name, theirs.actions - 1), version_of(own or theirs.name)
    except UsageError as error:
        if own:
            raise
        _refuse(directory / CARD, str(error), "train it again, or give another")
    return ObservationSpec(name=theirs.name, version=version, shapes=shapes, actions=theirs.actions)


def load_policy(directory: Path, observation: ObservationSpec | None = None) -> Checkpoint:
    """The policy in `directory`, which must be for this `observation`, if one is given.

    Raises:
        InputError: it is broken, or of another kind.
    """
    card = read_card(directory)
    if observation is not None and card.observation.digest != observation.digest:
        _refuse(directory / CARD, _difference(card.observation, observation), "train it again, or give another")
    expected = _blueprint(directory / CARD, card)
    tensors = load_tensors(directory / WEIGHTS, {name: tuple(t.shape) for name, t in expected.state_dict().items()})
    network = expected.to_empty(device="cpu")
    network.load_state_dict(tensors)
    return Checkpoint(card, network.eval())


def load_tensors(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> "dict[str, Tensor]":
    """Float32 tensors of exactly these names and shapes; the file may hold them as float16, at half the size.

    Raises:
        InputError: the file is missing, broken, no safetensors, or holds something else.
    """
    with open_tensors(path) as file:
        parts = {name: file.get_slice(name) for name in list(file.keys())}
        found = {name: (part.get_dtype(), tuple(part.get_shape())) for name, part in parts.items()}
        if missing := sorted(shapes.keys() - found.keys()):
            _refuse(path, f"the network's {missing[0]!r} is not in it", "it belongs to another architecture")
        if alien := sorted(found.keys() - shapes.keys()):
            _refuse(path, f"holds {alien[0]!r:.80}, which the network has not", "it belongs to another architecture")
        for name, (dtype, shape) in found.items():
            if shape != shapes[name] or dtype not in ("F32", "F16"):
                wanted = f"F32 {list(shapes[name])}"
                _refuse(path, f"{name!r} is {dtype} {list(shape)}, not {wanted}", "it belongs to another architecture")
        tensors = {name: file.get_tensor(name).float() for name in shapes}
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            _refuse(path, f"{name!r} has NaN or infinity in it", "the training went wrong; train it again")
    return tensors


def open_tensors(path: Path) -> Any:
    """A file of tensors, of which only the header has been read.

    Raises:
        InputError: the file is missing, too large, truncated, or no safetensors.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        _refuse(path.parent, f"no {path.name} in it", "the checkpoint is not whole; copy it again, or train it again")
    if path.stat().st_size > MAX_WEIGHTS_BYTES:
        _refuse(path, f"larger than {MAX_WEIGHTS_BYTES >> 30} GiB", "it is none of ours")
    try:
        return safe_open(path, framework="pt")
    except (SafetensorError, OSError) as error:
        return _refuse(path, f"broken, or no safetensors file: {error}", "copy it again, or train it again")


def _blueprint(path: Path, card: Card) -> "ActorCritic":
    """The network without memory for its weights."""
    import torch

    try:
        kind: Any = network_class(card.network.name)
        config = kind.Config(**card.network.config)
        with torch.device("meta"):
            return kind(config, card.observation.shapes, card.observation.actions)
    except UsageError as error:
        _refuse(path, str(error), "train it again, or give another")
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(("network", "config", *map(str, fault["loc"])))
        _refuse(path, f"{place}: {wording(fault['msg'])}", "train it again")
    except (ValueError, KeyError, TypeError, RuntimeError, OverflowError) as error:
        _refuse(path, f"the network cannot be made for its observation: {error}", "train it again")


def _difference(theirs: ObservationSpec, ours: ObservationSpec) -> str:
    """In what two observations differ, in a sentence."""
    for what in ("name", "version", "actions"):
        if getattr(theirs, what) != getattr(ours, what):
            return f"trained on observation {what} {getattr(theirs, what)!r}, not {getattr(ours, what)!r}"
    for part in sorted(theirs.shapes.keys() | ours.shapes.keys()):
        if theirs.shapes.get(part) != ours.shapes.get(part):
            return f"trained on {part} of shape {theirs.shapes.get(part)}, where there is {ours.shapes.get(part)}"
    return "trained on another observation"


def _refuse(path: Path, cause: str, fix: str) -> NoReturn:
    raise InputError(cause, path=path, fix=fix)
