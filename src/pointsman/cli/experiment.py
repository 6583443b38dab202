"""From options and an experiment file to one complete `Experiment`: flag before file before default."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pointsman.cli.options import Options
from pointsman.cluster import load_cluster
from pointsman.cluster.congestion import parse_congestion
from pointsman.engine.rate_models.gpu_sharing import gpu_sharing_of
from pointsman.engine.setup.overheads import Overheads, load_overheads
from pointsman.errors import UsageError
from pointsman.experiment import Experiment, ExperimentSpec, Params, PolicyChoice, read_experiment
from pointsman.inputs.config_file import read_document
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.durations import parse_duration_s
from pointsman.inputs.messages import wording
from pointsman.policies.registry import LEARNED, get_policy, policy_names
from pointsman.speed import load_catalogue
from pointsman.workload.readers.read import filters

FLAGS = (
    *("trace", "trace_format", "cluster", "window", "load", "estimate", "placement"),
    *("oversized", "assign_models", "contention", "rate_model", "gpu_sharing", "interference"),
)
"""Options that say a field of the experiment as it is."""

SWITCHES = ("enforce_limits", "audit")

OVERHEADS = "overheads"


def resolve(options: Options, *, policies: list[str], seeds: list[int]) -> Experiment:
    """The experiment that the options ask for, complete and checked as far as it can be without reading the log.

    Args:
        options: what was asked for.
        policies: names of policies, ``all`` for the built-in ones; empty if the file decides.
        seeds: seeds; empty if the file decides.

    Raises:
        UsageError: something is missing or wrong.
    """
    flags = _flags(options, policies, seeds)
    if options.config is None:
        experiment = _without_file(flags)
    else:
        read = read_experiment(options.config)
        only = {**read.spec.only, **flags.get("only", {})}
        experiment = read.model_copy(update={"spec": _spec({**read.spec.model_dump(), **flags, "only": only})})
    load_cluster(experiment.spec.cluster)
    if experiment.spec.profiles:
        load_catalogue(*experiment.spec.profiles)
    file = None if "policies" in flags else options.config
    spec = _with_settings(experiment.spec, parse_settings(options.settings), file)
    _check_sharing(spec)
    return experiment.model_copy(update={"spec": spec})


def _check_sharing(spec: ExperimentSpec) -> None:
    """That all policies go with the sharing of GPUs asked for, before any of them runs."""
    if spec.interference is not None:
        from pointsman.speed.interference.slow_downs import load_interference

        load_interference(spec.interference, load_catalogue(*spec.profiles))
    for choice in spec.policies if spec.gpu_sharing is not None else ():
        gpu_sharing_of(get_policy(choice.name).make(choice.params), spec.gpu_sharing, None)


def origins(options: Options, *, policies: list[str], seeds: list[int]) -> dict[str, str]:
    """Where each field of what `resolve` makes of the same is from: ``flag``, ``file`` or ``default``."""
    flags = set(_flags(options, policies, seeds))
    flags |= {OVERHEADS if name == OVERHEADS else "policies" for name in parse_settings(options.settings)}
    written = read_experiment(options.config).spec.model_fields_set if options.config else set()
    return {
        name: "flag" if name in flags else "file" if name in written else "default"
        for name in ExperimentSpec.model_fields
    }


def overheads_of(spec: ExperimentSpec) -> Overheads:
    """The overheads that the experiment names or spells out.

    Raises:
        UsageError: an unknown name or field, or a wrong value. InputError: a wrong file.
    """
    return load_overheads(spec.overheads) if isinstance(spec.overheads, str) else _overheads(spec.overheads)


def _flags(options: Options, policies: list[str], seeds: list[int]) -> dict[str, Any]:
    flags = {name: value for name in (*FLAGS, OVERHEADS) if (value := getattr(options, name)) is not None}
    lists = {
        "policies": _expanded(policies),
        "seeds": seeds,
        "only": filters(options.only),
        "profiles": options.profiles,
        "congestion": parse_congestion(options.congestion),
    }
    return (
        flags
        | {name: value for name, value in lists.items() if value}
        | {name: True for name in SWITCHES if getattr(options, name)}
    )


def _expanded(policies: list[str]) -> list[str]:
    names = [each for name in policies for each in (_all() if name == "all" else [name])]
    return list(dict.fromkeys(names))


def _all() -> list[str]:
    """Policies that can be compared with each other: not those with a rate model of their own, nor learned ones, which
    want PyTorch and weights.
    """
    comparable = (name for name in policy_names() if name not in LEARNED)
    return [name for name in comparable if not hasattr(get_policy(name).factory, "rate_model")]


def _without_file(flags: dict[str, Any]) -> Experiment:
    needed = {"trace": "TRACE, a job log", "cluster": "--cluster, where to replay it", "policies": "--policy"}
    missing = [what for name, what in needed.items() if name not in flags]
    if missing:
        raise UsageError(f"missing: {'; '.join(missing)} (or -c FILE, which says it all)")
    trace = flags["trace"]
    name = "stdin" if trace == "-" else Path(trace).name.split(".")[0] or "experiment"
    return Experiment.model_validate({"metadata": {"name": name}, "spec": _spec(flags)})


def _spec(data: dict[str, Any]) -> ExperimentSpec:
    try:
        return ExperimentSpec.model_validate(data)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        flag = {"trace": "TRACE", "policies": "--policy", "seeds": "--seed"}.get(name, "--" + name.replace("_", "-"))
        said = wording(fault["msg"])
        whole = "error" in fault.get("ctx", {}) and not said.startswith("must")  # a sentence of ours names the value
        raise UsageError(f"{flag}: {said}" if whole else f"{flag}: {said}, not {fault['input']!r:.60}") from None


def parse_settings(texts: list[str]) -> dict[str, Params]:
    """``--set`` texts by what they set: ``{"srtf": {"margin_s": 60.0}}``.

    Raises:
        UsageError: a text is of another form.
    """
    settings: dict[str, Params] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        name, _, param = key.rpartition(".")
        if not equals or not name or not param:
            raise UsageError(f"--set takes NAME.PARAM=VALUE, like srtf.margin_s=60, not {text!r}")
        settings.setdefault(name, {})[param] = _value(param, value)
    return settings


def _value(param: str, text: str) -> Any:
    """A number, a truth value, a list or a text, as YAML has them; a duration where the name ends in ``_s``."""
    try:
        if param.endswith("_s"):
            return parse_duration_s(text)
    except ValueError:
        pass  # of a list, or of nonsense, the owner of the parameter says what is wrong
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _with_settings(spec: ExperimentSpec, settings: dict[str, Params], file: Path | None) -> ExperimentSpec:
    """The settings in their places, every policy and parameter known to exist; `file` names the policies, if any."""
    specs = []
    for i, choice in enumerate(spec.policies):
        with _placed(file, i):
            specs.append(get_policy(choice.name))
    known = [OVERHEADS, *{each.name: None for each in specs}]
    for name in settings:
        if name not in known:
            raise UsageError(f"--set {name}.…: there is no {name!r} in this experiment ({did_you_mean(name, known)})")
    choices = []
    for i, (choice, policy) in enumerate(zip(spec.policies, specs, strict=True)):
        params = {**choice.params, **settings.get(policy.name, {})}
        with _placed(None if policy.name in settings else file, i):
            policy.make(params)
        choices.append(PolicyChoice(name=choice.name, params=params))
    costs = _overheads(overheads_of(spec).model_dump() | settings.get(OVERHEADS, {}))
    overheads = costs.model_dump() if OVERHEADS in settings else spec.overheads
    return spec.model_copy(update={"policies": tuple(choices), "overheads": overheads})


@contextmanager
def _placed(file: Path | None, policy: int) -> Generator[None]:
    """Complaints about this policy of an experiment file say where it stands there."""
    try:
        yield
    except UsageError as error:
        if file is None:
            raise
        where = read_document(file, Experiment).where("spec", "policies", policy)
        raise UsageError(f"{where}: {error}") from error


def _overheads(fields: Mapping[str, Any]) -> Overheads:
    try:
        return Overheads(**fields)
    except ValidationError as error:
        fault = error.errors()[0]
        if not fault["loc"]:  # of several costs together
            raise UsageError(f"{OVERHEADS}: {wording(fault['msg'])}") from None
        name = str(fault["loc"][0])
        unknown = fault["type"] == "extra_forbidden"
        known = did_you_mean(name, Overheads.model_fields)
        why = f"no such cost ({known})" if unknown else f"{wording(fault['msg'])}, not {fault['input']!r:.60}"
        raise UsageError(f"{OVERHEADS}.{name}: {why}") from None
