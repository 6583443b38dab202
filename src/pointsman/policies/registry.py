"""The policies there are, by name: one dict, entry points of the group ``pointsman.policies``, and users' files."""

import difflib
import functools
import importlib
import importlib.metadata
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

import numpy as np
from pydantic import ValidationError

from pointsman.engine.run.contract import CompiledPolicy, Policy, check_declarations
from pointsman.errors import PointsmanError, UsageError
from pointsman.inputs.durations import parse_duration_s
from pointsman.inputs.messages import wording
from pointsman.policies.own_file import imported_class, read_class
from pointsman.types import Knowledge, Profile, Progress

WORDS: Final[dict[type, str]] = {bool: "true or false", int: "a whole number", float: "a number"}
"""What a parameter of this type must be."""

BUILT_IN: dict[str, str] = {
    "fifo": "pointsman.policies.classical.fifo:Fifo",
    "sjf": "pointsman.policies.classical.sjf:Sjf",
    "fifo-backfill": "pointsman.policies.classical.fifo_backfill:FifoBackfill",
    "sjf-backfill": "pointsman.policies.classical.sjf_backfill:SjfBackfill",
    "easy": "pointsman.policies.classical.easy:Easy",
    "conservative": "pointsman.policies.classical.conservative:Conservative",
    "multifactor": "pointsman.policies.classical.multifactor:Multifactor",
    "kueue": "pointsman.policies.quotas.kueue:Kueue",
    "srtf": "pointsman.policies.classical.srtf:Srtf",
    "las": "pointsman.policies.classical.las:Las",
    "tiresias": "pointsman.policies.classical.tiresias:Tiresias",
    "tiresias-skew": "pointsman.policies.classical.tiresias_skew:TiresiasSkew",
    "gandiva": "pointsman.policies.classical.gandiva:Gandiva",
    "gandiva-packing": "pointsman.policies.classical.gandiva_packing:GandivaPacking",
    "dally": "pointsman.policies.dally.dally:Dally",
    "dally-manual": "pointsman.policies.dally.dally:DallyManual",
    "dally-nowait": "pointsman.policies.dally.dally:DallyNoWait",
    "dally-consolidated": "pointsman.policies.dally.dally:DallyConsolidated",
    "dally-nopreempt": "pointsman.policies.dally.dally:DallyNoPreempt",
    "dally-whole-nodes": "pointsman.policies.dally.dally:DallyWholeNodes",
    "gittins": "pointsman.policies.dally.gittins:Gittins",
    "sjf-bsbf": "pointsman.policies.sharing.sjf_bsbf:SjfBsbf",
    "sjf-bsbf-consolidated": "pointsman.policies.sharing.sjf_bsbf_consolidated:SjfBsbfConsolidated",
    "sjf-ffs": "pointsman.policies.sharing.sjf_ffs:SjfFfs",
    "pollux": "pointsman.policies.pollux.pollux:Pollux",
    "lwf": "pointsman.policies.lwf.lwf:Lwf",
    "srsf": "pointsman.policies.lwf.srsf:Srsf",
    "ada-srsf": "pointsman.policies.lwf.ada_srsf:AdaSrsf",
    "pick-place": "pointsman.policies.pickers.pick_place:PickPlace",
    "pick-place-sjf": "pointsman.policies.pickers.pick_place:PickPlaceSjf",
    "lb": "pointsman.policies.placers.lb:Lb",
    "tetris-place": "pointsman.policies.placers.tetris_place:TetrisPlace",
    "lif": "pointsman.policies.placers.lif:Lif",
    "packed": "pointsman.policies.placers.packed:Packed",
    "packed-lif": "pointsman.policies.placers.packed_lif:PackedLif",
    "packed-patience": "pointsman.policies.placers.packed_patience:PackedPatience",
    "scorer": "pointsman.policies.placers.scorer:Scorer",
    "random-place": "pointsman.policies.placers.random_place:RandomPlace",
}
LEARNED: dict[str, str] = {
    "topdrl": "pointsman.learn.policies.topdrl:TopDrl",
    "marl": "pointsman.learn.policies.marl:Marl",
    "metarl": "pointsman.learn.policies.metarl:MetaRl",
    "deeprm": "pointsman.learn.policies.deeprm:DeepRm",
    "proximity-drl": "pointsman.learn.policies.proximity_drl:ProximityDrl",
}
"""Networks that were trained: ``NAME`` with the shipped weights, ``NAME:CHECKPOINT`` with those of a directory."""
PLAIN = (str, int, float, bool, list, tuple, dict)
"""Values of parameters that a result can state."""
DEFAULT: Final = "gittins"
"""Decides on a live cluster where nothing else is asked for."""
FALLBACK: Final = "fifo-backfill"
"""What decides on a live cluster when the policy that was asked for has failed: it needs no durations."""
TRAINABLE: dict[str, str] = {"scorer": "pointsman.learn.scorer_checkpoint:trained_weights"}
"""Built-in policies whose parameters may be learnt: ``NAME:DIR`` has those that were found by the training in DIR."""
CONFIGURED: dict[str, str] = {"multifactor": "pointsman.policies.slurm_conf:multifactor_of"}
"""Built-in policies whose parameters a scheduler's own configuration may say: ``NAME:FILE``."""
MAX_ROUND_S = 100 * 86400.0
_IN_FILE = re.compile(r"[^(),]*\.py:\w+")
_ROUNDS = re.compile(r"rounds\(\s*(?P<policy>.+?)\s*,\s*(?P<every>[^,()]+?)\s*\)")


@dataclass(frozen=True)
class PolicySpec:
    """A policy as it was asked for: its class, and how often it decides."""

    text: str
    """As it was asked for."""
    factory: type[Any]
    round_s: float = 0.0
    """Passes only at multiples of this; 0: at every instant with an event."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that the text itself says, or the file that it names."""
    notes: tuple[str, ...] = ()
    """What that file says and the policy leaves out."""

    @property
    def name(self) -> str:
        """The policy's own name, by which ``--set NAME.PARAM=VALUE`` knows it."""
        found = getattr(self.factory, "name", None)
        return found if isinstance(found, str) else self.factory.__name__

    @property
    def title(self) -> str:
        """The name it goes by in tables: a class of a file by its own name, ``rounds(small-first, 60)``."""
        return _IN_FILE.sub(lambda found: self.name, self.text)

    @property
    def needs(self) -> Knowledge:
        """What it must be told of durations."""
        return getattr(self.factory, "needs", "none")

    @property
    def durations(self) -> str:
        """What it uses of durations by default: what it must be told, or ``history``, what the run learns of them."""
        return self.make().durations if issubclass(self.factory, CompiledPolicy) else self.needs  # ty: ignore

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """What it is told of model profiles."""
        return getattr(self.factory, "profiles", ())

    @property
    def progress(self) -> Progress:
        """What it observes of jobs that run or have run."""
        return getattr(self.factory, "progress", "none")

    @property
    def compiled(self) -> bool:
        """Whether its hooks are compiled into the engine's loop."""
        return issubclass(self.factory, CompiledPolicy)

    @property
    def config(self) -> type[CompiledPolicy] | None:
        """The configuration class, whose fields document the parameters; None for a policy written in Python."""
        return self.factory if self.compiled else None

    def effective(self, params: Mapping[str, Any], policy: object) -> dict[str, Any]:
        """Every parameter of a policy written in Python but those that its text says, and its number of schedulers."""
        found = {name: one.default for name, one in self.arguments.items() if one.default is not one.empty}
        found |= params
        if "schedulers" in found:
            found["schedulers"] = getattr(policy, "divides_among", 1)
        return {name: value for name, value in found.items() if isinstance(value, PLAIN) and value != ""}

    @property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """The parameters of a policy written in Python, as its class takes them."""
        found = inspect.signature(self.factory).parameters.values()
        return {p.name: p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}

    @property
    def doc(self) -> str:
        """What the policy does, in a sentence or two."""
        return " ".join((self.factory.__doc__ or "").split())

    def make(self, params: Mapping[str, Any] | None = None) -> CompiledPolicy | Policy:
        """The policy with `params` set.

        Raises:
            UsageError: an unknown parameter (with a suggestion) or an invalid value.
        """
        given = {**self.given, **(params or {})}
        if not self.compiled:
            _check_arguments(self, given)
            _check_types(self, given)
        try:
            policy: CompiledPolicy | Policy = self.factory(**given)
        except ValidationError as error:
            raise UsageError(_explain(error, self)) from None
        except PointsmanError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise UsageError(f"policy {self.text!r} cannot be made with {given!r:.200}: {why}") from error
        if not self.compiled and not isinstance(policy, Policy):
            raise UsageError(f"{self.text} is not a policy: it needs `name`, `needs` and a method `decide(view)`")
        check_declarations(policy)
        return policy


def _explain(error: ValidationError, spec: PolicySpec) -> str:
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if not name:  # two parameters do not go together
        return f"policy {spec.name!r}: {wording(first['msg'])}"
    if first["type"] != "extra_forbidden" or spec.config is None:
        return f"{spec.name}.{name} = {first['input']!r:.60}: {wording(first['msg'])}"
    return _no_such(name, list(spec.config.model_fields), spec)


def _no_such(param: str, known: list[str], spec: PolicySpec) -> str:
    close = difflib.get_close_matches(param, known, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    has = ", ".join(known) if known else "no parameters"
    return f"policy {spec.name!r} has no parameter {param!r} ({hint}it has {has})"


def _check_arguments(spec: PolicySpec, params: Mapping[str, Any]) -> None:
    """That a class written in Python takes these, and gets all that it must be given."""
    named = spec.arguments
    takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(spec.factory).parameters.values())
    for name in params:
        if name not in named and not takes_any:
            raise UsageError(_no_such(name, list(named), spec))
    for name, parameter in named.items():
        if parameter.default is parameter.empty and name not in params:
            raise UsageError(f"policy {spec.name!r} needs its parameter {name!r}; give --set {spec.name}.{name}=VALUE")


def _check_types(spec: PolicySpec, params: Mapping[str, Any]) -> None:
    """That numbers and truth values are such, in policies of ours: what others annotate is their own affair."""
    if not spec.factory.__module__.startswith("pointsman."):
        return
    hints = get_type_hints(spec.factory.__init__)
    for name, value in params.items():
        hint = hints.get(name)
        kinds = get_args(hint) or (hint,)
        wanted = next((what for kind, what in WORDS.items() if kind in kinds), None)
        if wanted is None or (value is None and NoneType in kinds) or _is_one(value, wanted):
            continue
        raise UsageError(f"{spec.name}.{name} = {value!r:.60}: it must be {wanted}")


def _is_one(value: Any, wanted: str) -> bool:
    if isinstance(value, bool | np.bool_):
        return wanted == WORDS[bool]
    if wanted == WORDS[bool]:
        return False
    return isinstance(value, Integral if wanted == WORDS[int] else Real)


@functools.cache
def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {e.name: e for e in importlib.metadata.entry_points(group="pointsman.policies")}


def policy_names() -> list[str]:
    """Every policy that can be named, built-in ones first."""
    ours = [*BUILT_IN, *LEARNED]
    return [*ours, *(name for name in sorted(_entry_points()) if name not in ours)]


def get_policy(text: str, *, imports: bool = True) -> PolicySpec:
    """The policy of a name, of ``NAME:CHECKPOINT``, of ``multifactor:slurm.conf``, of ``file.py:Class``, or
    ``rounds(POLICY, every_s)`` around one.

    Args:
        text: the name.
        imports: whether a file may be imported; if not, it is only read, and its parameters are not known.

    Raises:
        UsageError: no such policy (with a suggestion), file or class.
        InputError: the scheduler's configuration that the name says cannot be read.
    """
    wrapped = _ROUNDS.fullmatch(text.strip())
    if wrapped:
        inner = get_policy(wrapped["policy"], imports=imports)
        try:
            every_s = parse_duration_s(wrapped["every"])
        except ValueError as error:
            raise UsageError(f"{text}: {error}") from None
        if not 0.001 <= every_s <= MAX_ROUND_S or inner.round_s:
            raise UsageError(
                f"{text}: rounds(POLICY, every_s) needs a policy without rounds, and at least 1 ms and at most 100 days"
            )
        return PolicySpec(text.strip(), inner.factory, every_s, inner.given, inner.notes)
    name, colon, checkpoint = text.partition(":")
    if name in LEARNED and (checkpoint or not colon):
        return PolicySpec(text, _imported(LEARNED[name]), given={"checkpoint": checkpoint} if colon else {})
    if name in TRAINABLE and checkpoint:
        return PolicySpec(text, _imported(BUILT_IN[name]), given=_imported(TRAINABLE[name])(checkpoint))
    if name in CONFIGURED and checkpoint:
        read = _imported(CONFIGURED[name])(checkpoint)
        return PolicySpec(text, _imported(BUILT_IN[name]), given=read.params, notes=tuple(read.notes))
    if text in BUILT_IN:
        return PolicySpec(text, _imported(BUILT_IN[text]))
    if ".py:" in text:
        return PolicySpec(text, (imported_class if imports else read_class)(*text.rsplit(":", 1)))
    if text in (found := _entry_points()):
        return PolicySpec(text, found[text].load())
    if text.strip().startswith("rounds"):
        raise UsageError(
            f"{text!r:.60} is incomplete: write rounds(POLICY, EVERY), like rounds(fifo, 60) or rounds(srtf, 5m)"
        )
    close = difflib.get_close_matches(text, policy_names(), 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    forms = "learned: NAME:CHECKPOINT; your own: file.py:Class"
    raise UsageError(f"unknown policy {text!r:.60} ({hint}there are {', '.join(policy_names())}; {forms})")


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
