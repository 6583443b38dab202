"""From options and an experiment file to one complete `Experiment`: flag before file before default."""

from typing import Any

import yaml
from pydantic import ValidationError

from pointsman.cli.options import Options
from pointsman.config import Experiment, ExperimentSpec, read_experiment
from pointsman.duration import parse_duration_s
from pointsman.errors import UsageError
from pointsman.workload.read import filters

FLAGS = ("trace", "trace_format", "cluster", "window", "load", "estimate", "placement", "overheads", "oversized")
"""Options that say a field of the experiment as it is."""


def resolve(options: Options, *, policies: list[str], seeds: list[int]) -> Experiment:
    """The experiment that the options ask for, complete.

    Args:
        options: what was asked for.
        policies: names of policies; empty if the file decides.
        seeds: seeds; empty if the file decides.

    Raises:
        UsageError: something is missing or wrong.
    """
    given = _given(options, policies, seeds)
    if options.config is None:
        experiment = _of_flags(given)
    else:
        experiment = read_experiment(options.config)
        given = _over(experiment.spec, given)
    spec = _validated({**experiment.spec.model_dump(), **given})
    _every_setting_is_of_something(spec)
    return experiment.model_copy(update={"spec": spec})


def _given(options: Options, policies: list[str], seeds: list[int]) -> dict[str, Any]:
    given = {name: value for name in FLAGS if (value := getattr(options, name)) is not None}
    if options.assign_models is not None:
        given["assign_models"] = options.assign_models
    lists = {"policies": policies, "seeds": seeds, "only": filters(options.only), "set": _settings(options.settings)}
    return given | {name: value for name, value in lists.items() if value} | ({"audit": True} if options.audit else {})


def _of_flags(given: dict[str, Any]) -> Experiment:
    needed = {"trace": "TRACE, a job log", "cluster": "--cluster, where to replay it", "policies": "--policy"}
    missing = [what for name, what in needed.items() if name not in given]
    if missing:
        raise UsageError(f"missing: {'; '.join(missing)} (or -c FILE, which says it all)")
    return Experiment.model_validate({"metadata": {"name": _name(given["trace"])}, "spec": _validated(given)})


def _over(spec: ExperimentSpec, given: dict[str, Any]) -> dict[str, Any]:
    """What is given, with settings and filters of the file that it does not touch."""
    settings = {name: {**spec.set.get(name, {}), **params} for name, params in given.get("set", {}).items()}
    return {**given, "set": {**spec.set, **settings}, "only": {**spec.only, **given.get("only", {})}}


def _validated(data: dict[str, Any]) -> ExperimentSpec:
    try:
        return ExperimentSpec.model_validate(data)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        flag = {"trace": "TRACE", "policies": "--policy"}.get(name, "--" + name.replace("_", "-"))
        message = fault["msg"].removeprefix("Value error, ")
        raise UsageError(f"{flag}: {message[0].lower()}{message[1:]}, not {fault['input']!r:.60}") from None


def _name(trace: str) -> str:
    from pathlib import Path

    return "stdin" if trace == "-" else Path(trace).name.split(".")[0] or "experiment"


def _pair(text: str, flag: str, form: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UsageError(f"{flag} takes {form}, not {text!r}")
    return key, value


def _settings(texts: list[str]) -> dict[str, dict[str, Any]]:
    settings: dict[str, dict[str, Any]] = {}
    for text in texts:
        key, value = _pair(text, "--set", "NAME.PARAM=VALUE")
        name, dot, param = key.rpartition(".")
        if not dot or not name or not param:
            raise UsageError(f"--set takes NAME.PARAM=VALUE, like srtf.margin_s=60, not {text!r}")
        settings.setdefault(name, {})[param] = _value(param, value)
    return settings


def _value(param: str, text: str) -> Any:
    """A number, a truth value, a list or a text, as YAML has them; a duration where the name ends in ``_s``."""
    try:
        if param.endswith("_s"):
            return parse_duration_s(text)
    except ValueError:
        pass  # a list of durations, or a wrong value, of which the policy's own check says what is wrong
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _every_setting_is_of_something(spec: ExperimentSpec) -> None:
    from pointsman.cluster.suggestion import did_you_mean

    known = ["overheads", *(choice.name for choice in spec.policies)]
    for name in spec.set:
        if name not in known:
            raise UsageError(f"--set {name}.…: no such thing in this experiment ({did_you_mean(name, known)})")
