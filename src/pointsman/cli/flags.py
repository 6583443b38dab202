"""Flags made from the fields of an experiment: ``--placement KIND  Choice of GPUs for a job: consolidated, ...``."""

import inspect
from collections.abc import Sequence
from types import GenericAlias, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from pointsman.experiment import VARIED, ExperimentSpec, RunOptions
from pointsman.inputs.option import about, sentence_of

ARGUMENT = "trace"
"""The field that is an argument."""

POLICIES = ("policies", "seeds")
"""Lists for a command that makes several runs on one cluster; of each of them a single run has one."""

GRID = (*POLICIES, *VARIED)
"""Lists for a command that runs every combination."""

ALL = "'all' stands for the other built-in policies that can be compared."


def flag_of(name: str) -> str:
    """The field as the command line has it: ``--policy`` of ``policies``, ``TRACE`` of ``trace``."""
    said = about(ExperimentSpec.model_fields[name])
    return said.metavar if name == ARGUMENT else f"--{(said.flag or name).replace('_', '-')}"


def parameters(several: Sequence[str]) -> list[inspect.Parameter]:
    """A parameter for each field of the experiment, as typer reads it; first those that an experiment needs.

    Args:
        several: those of `GRID` of which the command takes several values.
    """
    fields = dict(sorted(ExperimentSpec.model_fields.items(), key=lambda item: not item[1].is_required()))
    return [_parameter(name, info, several) for name, info in fields.items()]


def _parameter(name: str, info: FieldInfo, several: Sequence[str]) -> inspect.Parameter:
    kind, flags = _kind(info.annotation), [flag_of(name)]
    if name in VARIED and name not in several:
        kind = get_args(kind)[0]
    if name == "workload_seeds":
        kind = list[str]
    if name == "seeds":
        kind, flags = (list[str], ["--seeds", "--seed"]) if name in several else (list[int], flags)
        info = info if name in several else RunOptions.model_fields["seed"]
    said = about(info)
    repeated = get_origin(kind) is list
    told = [sentence_of(info)]
    if name == "policies" and name in several:
        told.append(ALL)
    if said.example:
        told.append(f"Example: {flags[0]} {said.example}.")
    if repeated and (name in several or name not in GRID):
        told.append("Repeatable.")
    if info.is_required():
        told.append("Required without -c.")
    shown: dict[str, Any] = {"help": " ".join(told), "show_default": False}
    if kind is bool:
        both = [f"{flags[0]}/{flags[0].replace('--', '--no-')}"] if info.default else flags
        return _keyword(name, Annotated[bool | None, typer.Option(*both, rich_help_panel=said.panel, **shown)], None)
    shown["metavar"] = said.metavar
    if name == ARGUMENT:
        return _keyword(name, Annotated[str | None, typer.Argument(**shown)], None)
    shown["rich_help_panel"] = said.panel
    if repeated:
        return _keyword(name, Annotated[kind, typer.Option(*flags, default_factory=list, **shown)])
    return _keyword(name, Annotated[kind | None, typer.Option(*flags, **shown)], None)


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(annotation: Any) -> Any:
    """What a flag takes: a number, or text that the experiment makes something of; mappings and lists repeat it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType, Annotated):
        return _kind(inner[0])
    if origin is tuple and inner[-1] is ...:
        return GenericAlias(list, (_kind(inner[0]),))
    if origin is dict:
        return list[str]
    return annotation if annotation in (bool, int, float) else str
