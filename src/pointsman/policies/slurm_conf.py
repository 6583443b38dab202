"""The parameters of `multifactor` as a site's ``slurm.conf`` has them, or what ``scontrol show config`` prints.

What the file leaves out has Slurm's default, such as a weight of 0; what it says and we do not simulate becomes a note.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pointsman.errors import InputError

MOST_S: Final = 1e9
_SPAN: Final = re.compile(r"(?:(?P<days>\d+)-)?(?P<clock>\d+(?::\d+){0,2})")
_PAIR: Final = re.compile(r"""([\w.]+)\s*=\s*("[^"]*"|\S*)""")
_WHOLE_LINE: Final = re.compile(r"\s*(\w+)\s*=\s*(.*?)\s*$")
_WITHOUT_VALUE: Final = re.compile(r"\s*(Priority\w+|Scheduler(?:Type|Parameters))\b", re.IGNORECASE)
NEAR: Final = 0.9
"""How alike a name and a setting are, from 0 to 1, that it is probably meant for (ours)."""
_PERHAPS: Final = {"yes": True, "1": True, "true": True, "no": False, "0": False, "false": False}

WEIGHTS: Final = {
    "PriorityWeightAge": "weight_age",
    "PriorityWeightFairshare": "weight_fair_share",
    "PriorityWeightJobSize": "weight_job_size",
    "PriorityWeightPartition": "weight_partition",
}
SPANS: Final = {
    "PriorityMaxAge": "max_age_s",
    "PriorityDecayHalfLife": "decay_half_life_s",
    "PriorityCalcPeriod": "calc_period_s",
}
NOT_MODELLED: Final = {
    "PriorityWeightQOS": "0",
    "PriorityWeightAssoc": "0",
    "PriorityWeightTRES": "",
    "PrioritySiteFactorPlugin": "",
    "PriorityUsageResetPeriod": "NONE",
    "PreemptType": "preempt/none",
}
"""Settings that we do not simulate, and the value at which they do nothing."""
PRIORITY: Final = (
    *WEIGHTS, *SPANS, *(name for name in NOT_MODELLED if name.startswith("Priority")), "PriorityFavorSmall",
    "PriorityFlags", "PriorityParameters", "PrioritySiteFactorParameters", "PriorityType",
)  # fmt: skip
"""Slurm's settings of priorities; a misspelt one would count as left out."""
FLAGS: Final = {"NO_FAIR_TREE": "", "FAIR_TREE": "the classic algorithm is used instead"}


@dataclass
class SlurmConf:
    """What was read."""

    params: dict[str, Any] = field(default_factory=dict)
    """Parameters of `multifactor`."""
    notes: list[str] = field(default_factory=list)
    """What the file says and is not simulated."""


@dataclass(frozen=True)
class _Setting:
    name: str
    value: str
    line: int


def multifactor_of(file: str) -> SlurmConf:
    """The parameters of `multifactor` by a ``slurm.conf``.

    Raises:
        InputError: there is no such file, or a value is none.
    """
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(f"cannot be read: {why}", path=path, fix="name a slurm.conf") from None
    settings, partitions = _split(text, path)
    _check_names(settings, path)
    if not any(name.startswith(("priority", "scheduler", "slurmctld", "clustername")) for name in settings):
        fix = "give a slurm.conf, or what 'scontrol show config' prints"
        raise InputError("no setting of a slurm.conf is in it", path=path, fix=fix)
    found = SlurmConf()
    _weights(found, settings, path)
    _fair_share(found, settings, path)
    _backfill(found, settings, path)
    _partitions(found, partitions, path)
    for name, harmless in NOT_MODELLED.items():
        value = settings.get(name.lower())
        if value and value.value.upper() not in ("", "(NULL)", "N/A", harmless.upper()):
            found.notes.append(f"{name}={value.value} is not simulated")
    if "include" in text.lower() and re.search(r"^\s*include\s", text, re.IGNORECASE | re.MULTILINE):
        found.notes.append("files that it includes are not read")
    return found


def _split(text: str, path: Path) -> tuple[dict[str, _Setting], list[dict[str, _Setting]]]:
    """Settings by their names in lower case, the last of each, and those of each partition.

    Raises:
        InputError: a setting that we read has no value.
    """
    settings: dict[str, _Setting] = {}
    partitions: list[dict[str, _Setting]] = []
    for line, said in _lines(text):
        if re.match(r"\s*PartitionName\s*=", said, re.IGNORECASE):
            pairs = [_Setting(name, value.strip('"'), line) for name, value in _PAIR.findall(said)]
            partitions.append({one.name.lower(): one for one in pairs})
        elif found := _WHOLE_LINE.match(said):
            settings[found[1].lower()] = _Setting(found[1], found[2].strip('"'), line)
        elif bare := _WITHOUT_VALUE.match(said):
            fix = f"write {bare[1]}=VALUE"
            raise InputError(f"{said.strip():.60}: a setting without =", path=path, line=line, fix=fix)
    return settings, partitions


def _check_names(settings: Mapping[str, _Setting], path: Path) -> None:
    """InputError if a setting of priorities is probably misspelt."""
    known = {name.lower(): name for name in PRIORITY}
    for name, setting in settings.items():
        near = get_close_matches(name, known, n=1, cutoff=NEAR) if name not in known else []
        if near:
            fix = f"write {known[near[0]]}"
            raise InputError(f"{setting.name} is no setting of Slurm", path=path, line=setting.line, fix=fix)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, with the number of each; those that go on are one."""
    begun, first = "", 1
    for number, raw in enumerate(text.splitlines(), 1):
        said = re.sub(r"(?<!\\)#.*", "", raw).rstrip()
        first = first if begun else number
        if said.endswith("\\"):
            begun += said[:-1] + " "
            continue
        yield first, begun + said
        begun = ""


def _weights(found: SlurmConf, settings: Mapping[str, _Setting], path: Path) -> None:
    for name, param in WEIGHTS.items():
        found.params[param] = _number(settings.get(name.lower()), 0.0, path)
    kind = settings.get("prioritytype")
    if kind and kind.value.lower() == "priority/basic":
        found.params |= dict.fromkeys(WEIGHTS.values(), 0.0)
        found.notes.append("PriorityType=priority/basic: jobs go by submission, and weights do not count")
    for name, param in SPANS.items():
        if setting := settings.get(name.lower()):
            found.params[param] = _span_s(setting, path)
    if setting := settings.get("priorityfavorsmall"):
        if setting.value.lower() not in _PERHAPS:
            raise InputError(f"{setting.name}={setting.value}", path=path, line=setting.line, fix="write YES or NO")
        found.params["favor_small"] = _PERHAPS[setting.value.lower()]


def _fair_share(found: SlurmConf, settings: Mapping[str, _Setting], path: Path) -> None:
    if setting := settings.get("fairsharedampeningfactor"):
        found.params["dampening"] = max(1.0, _number(setting, 1.0, path))
    given = settings.get("priorityflags")
    flags = [flag for flag in re.split(r"[,\s]+", given.value.upper() if given else "") if flag not in ("", "(NULL)")]
    fair_share = found.params["weight_fair_share"] > 0
    if fair_share and "NO_FAIR_TREE" not in flags:
        found.notes.append("Fair Tree, Slurm's default, is not simulated: fair share is the classic algorithm's")
    found.notes += [f"PriorityFlags={flag} is not simulated" for flag in flags if flag not in FLAGS]


def _backfill(found: SlurmConf, settings: Mapping[str, _Setting], path: Path) -> None:
    kind = settings.get("schedulertype")
    builtin = kind is not None and kind.value.lower() == "sched/builtin"
    found.params["backfill"] = "none" if builtin else "conservative"
    given = settings.get("schedulerparameters")
    others = []
    for option in given.value.split(",") if given else []:
        name, _, value = option.strip().partition("=")
        if name.lower() in ("bf_max_job_test", "max_job_bf") and given:
            number = _number(_Setting(name, value, given.line), 500.0, path)
            found.params["bf_max_job_test"] = min(10_000, max(1, int(number)))
        elif name.lower() == "bf_interval" and not builtin:
            found.notes.append(f"bf_interval={value}: here every scheduling cycle backfills")
        elif name and name.upper() != "(NULL)":
            others.append(option.strip())
    if others:
        found.notes.append(f"SchedulerParameters={','.join(others)} are not simulated")


def _partitions(found: SlurmConf, partitions: list[dict[str, _Setting]], path: Path) -> None:
    """The factor of each; lines of the name DEFAULT say it for those behind them."""
    default, factors, tiers = 1.0, {}, set()
    for one in partitions:
        name = one["partitionname"].value
        factor = _number(one.get("priorityjobfactor") or one.get("priority"), default, path)
        tiers.add((one.get("prioritytier") or _Setting("", "", 0)).value)
        if name.upper() == "DEFAULT":
            default = factor
        else:
            factors[name] = factor
    if len(set(factors.values())) > 1:
        found.params["partition_priority"] = factors
    if tiers - {""}:
        found.notes.append("PriorityTier of partitions is not simulated")


def _number(setting: _Setting | None, default: float, path: Path) -> float:
    if setting is None or setting.value.upper() in ("", "(NULL)"):
        return default
    try:
        number = float(setting.value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 2.0**32:
        cause, fix = f"{setting.name}={setting.value:.40} is no number from 0", "write a number such as 1000"
        raise InputError(cause, path=path, line=setting.line, fix=fix)
    return number


def _span_s(setting: _Setting, path: Path) -> float:
    """Seconds of Slurm's ``DAYS-HOURS[:MINUTES[:SECONDS]]``, ``[HOURS:]MINUTES:SECONDS`` or ``MINUTES``."""
    if setting.value.upper() in ("UNLIMITED", "INFINITE", "NONE"):
        return MOST_S
    found = _SPAN.fullmatch(setting.value)
    if not found:
        fix = "write minutes, or DAYS-HOURS:MINUTES:SECONDS"
        raise InputError(f"{setting.name}={setting.value:.40} is no time", path=path, line=setting.line, fix=fix)
    parts = [float(part) for part in found["clock"].split(":")]
    first = 0 if found["days"] or len(parts) == 3 else 1
    seconds = sum(part * unit for part, unit in zip(parts, (3600.0, 60.0, 1.0)[first:], strict=False))
    return min(MOST_S, seconds + 86_400.0 * float(found["days"] or 0))
