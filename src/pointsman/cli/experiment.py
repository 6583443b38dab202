"""From options and an experiment file to one complete `Experiment`: flag before file before default."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pointsman.cli import screen
from pointsman.cli.flags import flag_of
from pointsman.cli.options import Options
from pointsman.cluster import load_cluster
from pointsman.cluster.congestion import parse_congestion
from pointsman.engine.run.policy_terms import knowledge_for, terms_of
from pointsman.engine.setup.overheads import load_overheads
from pointsman.errors import UsageError
from pointsman.experiment import Experiment, ExperimentSpec, PolicyChoice, read_experiment
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.durations import parse_duration_s
from pointsman.inputs.messages import fault_of
from pointsman.inputs.option_types import Params, once_each
from pointsman.policies.registry import CONFIGURED, LEARNED, get_policy, policy_names
from pointsman.workload.readers.named_columns import parse_columns
from pointsman.workload.readers.read import filters

OVERHEADS = "overheads"
MAX_SEEDS = 10_000


def resolve(options: Options) -> Experiment:
    """The experiment that the options ask for, complete and checked as far as it can be without reading the log.

    Raises:
        UsageError: something is missing or wrong.
    """
    flags = _flags(options)
    if options.config is None:
        experiment = _without_file(flags)
    else:
        read = read_experiment(options.config)
        only = {**read.spec.only, **flags.get("only", {})}
        experiment = read.model_copy(update={"spec": _spec({**read.spec.model_dump(), **flags, "only": only})})
    for cluster in experiment.spec.cluster:
        load_cluster(cluster)
    if experiment.spec.profiles:
        from pointsman.speed import load_catalogue

        load_catalogue(*experiment.spec.profiles)
    file = None if "policies" in flags else options.config
    spec = _with_settings(experiment.spec, parse_settings(options.settings), file, imports=not options.dry_run)
    return experiment.model_copy(update={"spec": spec})


def origins(options: Options) -> dict[str, str]:
    """Where each field of what `resolve` makes of the same is from: ``flag``, ``file`` or ``default``."""
    flags = set(_flags(options))
    flags |= {OVERHEADS if name == OVERHEADS else "policies" for name in parse_settings(options.settings)}
    written = read_experiment(options.config).spec.model_fields_set if options.config else set()
    return {
        name: "flag" if name in flags else "file" if name in written else "default"
        for name in ExperimentSpec.model_fields
    }


def _flags(options: Options) -> dict[str, Any]:
    """The fields that flags say, as a file would say them."""
    given = {**options.spec}
    for name, read in READERS.items():
        if name in given:
            given[name] = read(given[name])
    return given


def parse_seeds(text: str, flag: str = "--seeds") -> list[int]:
    """Seeds of ``0-4``, ``1,2,3`` or both mixed.

    Raises:
        UsageError: no such list, or a seed is in it twice.
    """
    seeds: list[int] = []
    for part in text.split(","):
        numbers = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part.strip(), re.ASCII)
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (1, 0)
        if first > last:
            raise UsageError(f"{flag} {text!r:.60} is no list of seeds; write it like 0-4 or 1,2,3")
        if last - first >= MAX_SEEDS:
            raise UsageError(f"{flag} {text!r:.60} names {last - first + 1:,} seeds; give at most {MAX_SEEDS:,}")
        seeds.extend(range(first, last + 1))
    return _each_once(flag, seeds)


def _each_once(flag: str, values: list[Any], fix: str = "") -> list[Any]:
    try:
        return [*once_each(tuple(values))]
    except ValueError as error:
        raise UsageError(f"{flag}: {error}{fix}") from None


def _seeds(given: Any, flag: str = "--seeds") -> Any:
    """Parses seeds given as texts; a single run has numbers."""
    if not all(isinstance(text, str) for text in given):
        return given
    return _each_once(flag, [seed for text in given for seed in parse_seeds(text, flag)])


def _expand_all(policies: list[str]) -> list[str]:
    others = [name for name in _all() if name not in policies] if "all" in policies else []
    fix = "; list it twice in an experiment file (--config), with other params, to compare its parameters"
    return [each for name in _each_once("--policy", policies, fix) for each in (others if name == "all" else [name])]


def _all() -> list[str]:
    """Policies that can be compared with each other: not those with a rate model of their own, nor learned ones, which
    want PyTorch and weights.
    """
    comparable = (name for name in policy_names() if name not in LEARNED)
    return [name for name in comparable if not hasattr(get_policy(name).factory, "rate_model")]


def _parts(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


READERS: dict[str, Callable[[Any], Any]] = {
    "policies": _expand_all,
    "seeds": _seeds,
    "workload_seeds": partial(_seeds, flag="--workload-seeds"),
    "only": filters,
    "columns": parse_columns,
    "ignore": _parts,
    "keep_columns": _parts,
    "congestion": parse_congestion,
}
"""What makes of flags that say several things what a file has; the others say it as it is."""


def _without_file(flags: dict[str, Any]) -> Experiment:
    needed = {"trace": "TRACE, a job log", "cluster": "--cluster, where to replay it", "policies": "--policy"}
    missing = [what for name, what in needed.items() if name not in flags]
    if missing:
        raise UsageError(f"missing: {'; '.join(missing)} (or -c FILE with all of it)")
    trace = flags["trace"]
    name = "stdin" if trace == "-" else Path(trace).name.split(".")[0] or "experiment"
    return Experiment.model_validate({"metadata": {"name": name}, "spec": _spec(flags)})


def _spec(data: dict[str, Any]) -> ExperimentSpec:
    try:
        return ExperimentSpec.model_validate(data)
    except ValidationError as error:
        name, said = fault_of(error)
        raise UsageError(f"{flag_of(name.partition('.')[0])}: {said}") from None


def parse_settings(texts: list[str]) -> dict[str, Params]:
    """``--set`` texts by what they set: ``{"srtf": {"margin_s": 60.0}}``.

    Raises:
        UsageError: a text is of another form, or sets what another sets.
    """
    settings: dict[str, Params] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        name, _, param = key.rpartition(".")
        if not equals or not name or not param:
            raise UsageError(f"--set takes NAME.PARAM=VALUE, like srtf.margin_s=60, not {text!r:.60}")
        if param in settings.setdefault(name, {}):
            raise UsageError(f"--set {key:.60} is given twice: leave one out")
        settings[name][param] = _value(key, value)
    return settings


def _value(key: str, text: str) -> Any:
    """A number, a truth value, a list or a text, as YAML has them; a duration where the name ends in ``_s``."""
    try:
        if key.endswith("_s"):
            return parse_duration_s(text)
    except ValueError:
        pass  # of a list, or of nonsense, the owner of the parameter says what is wrong
    from pointsman.inputs.config_file import LONGEST, parse_value

    said = key if key.isprintable() and len(key) <= LONGEST else f"{key!r:.{LONGEST}}"
    return parse_value(text, origin=f"--set {said}")


def _with_settings(
    spec: ExperimentSpec, settings: dict[str, Params], file: Path | None, *, imports: bool
) -> ExperimentSpec:
    """The settings in their places, every policy and parameter known to exist; `file` names the policies, if any.

    Unless it `imports`, no code of the user's runs; what only that could tell is not checked.
    """
    specs = []
    for i, choice in enumerate(spec.policies):
        with _say_where(file, i):
            specs.append(get_policy(choice.name, imports=imports))
    for each in specs:
        for said in each.notes:
            screen.note(f"{each.text}: {said}")
    known = [OVERHEADS, *{each.name: None for each in specs}]
    for name in settings:
        if name not in known:
            raise UsageError(f"--set: there is no {name!r:.60} in this experiment ({did_you_mean(name, known)})")
    choices, made = [], []
    for i, (choice, policy) in enumerate(zip(spec.policies, specs, strict=True)):
        read = policy.given if policy.name in CONFIGURED else {}
        params = {**read, **choice.params, **settings.get(policy.name, {})}
        with _say_where(None if policy.name in settings else file, i):
            if imports or not _names_code(params):
                made.append((policy.make(params), policy))
        choices.append(PolicyChoice(name=choice.name, params=params))
    costs = load_overheads(load_overheads(spec.overheads).model_dump() | settings.get(OVERHEADS, {}))
    overheads = costs.stated() if OVERHEADS in settings else spec.overheads
    for estimate, policy in product(spec.estimate, specs):
        knowledge_for(policy, estimate, has_limits=True)
    for estimate, (policy, asked_for) in product(spec.estimate, made):
        terms_of(policy, asked_for, {**dict(spec), "estimate": estimate}, has_limits=True)
    return spec.model_copy(update={"policies": tuple(choices), "overheads": overheads})


def _names_code(params: Params) -> bool:
    """Whether a parameter is a Python file, as the observation of a network may be."""
    return any(isinstance(value, str) and value.endswith(".py") for value in params.values())


@contextmanager
def _say_where(file: Path | None, policy: int) -> Generator[None]:
    """Complaints about this policy of an experiment file say where it stands there."""
    try:
        yield
    except UsageError as error:
        if file is None:
            raise
        from pointsman.inputs.config_file import read_document

        where = read_document(file, Experiment).where("spec", "policies", policy)
        raise UsageError(f"{where}: {error}") from error
