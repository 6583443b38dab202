"""Which jobs a reader must find in an export of a site, and how many rows it may drop."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from .as_json import VERSIONS, Version
from .as_text import Export, Layout
from .site import SLICES, TYPES, Gres, Job, Part, Run, Site, records
from .tres import tracked_gres


class _Any:
    """Equals whatever there is: nothing decides the value."""

    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "any"

    __hash__ = None  # ty: ignore[invalid-assignment]


ANY: Final[Any] = _Any()


class Known(NamedTuple):
    """What is known of a job; None: the export does not say."""

    submit: int
    gpus: int
    fraction: float | None
    duration: int
    types: frozenset[str]
    status: str
    user: str | None
    account: str | None
    partition: str | None
    qos: str | None
    start: int | None
    end: int | None
    limit_s: int | None
    nodes: int | None
    node_list: str | None


class Demand(NamedTuple):
    """What a job's GPUs are: gangs have no fraction; `gpus` 0: none, None: no share of one."""

    gpus: int | None
    fraction: float | None
    types: frozenset[str]


@dataclass
class Truth:
    """What must come out."""

    jobs: list[Known] = field(default_factory=list)
    perhaps: list[Known] = field(default_factory=list)
    """Jobs whose rows cannot be read without a guess: they may be lost, but not misread."""
    fewest_rows: int = 0
    most_rows: int = 0
    steps: int = 0
    """Rows of steps that nothing hides."""
    without_gpu: int = 0
    """Jobs that ran without a GPU; a job has a row or more."""
    never_started: int = 0
    """Jobs that requested GPUs and never ran."""
    unshared: list[str] = field(default_factory=list)
    """Resources, as Slurm names them, of jobs that ran and cannot be given a share of a GPU."""
    mixed: int = 0
    """Heterogeneous jobs of several types."""


JSON_FIELDS: Final = (
    "JobID", "JobIDRaw", "Cluster", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start",
    "End", "ElapsedRaw", "TimelimitRaw", "AllocTRES", "ReqTRES", "NNodes", "NodeList",
)  # fmt: skip
"""What a document has of a job."""


def of_text(site: Site, export: Export, layout: Layout) -> Truth:
    """Of `sacct --parsable`."""
    plain = not (layout.junk or layout.headers or layout.tail)
    truth = _of_jobs(site, set(layout.fields), lambda job: _guess(job, layout))
    whole = plain and not any(_broken(job, layout) for job in site.jobs)
    truth.fewest_rows = len(export.records)
    truth.most_rows = truth.fewest_rows if whole else export.most_rows
    truth.steps = sum(bool(row.step) and not _guess(row.job, layout) for row in export.records)
    return truth


def of_json(site: Site, version: Version = VERSIONS[-1]) -> Truth:
    """Of `sacct --json`, whose steps are no rows; where a start is wrong, only an end tells when it was."""
    truth = _of_jobs(site, JSON_FIELDS, lambda job: False)
    if version.start_is_eligible:
        truth.jobs = [job._replace(start=ANY) if job.status == "RUNNING" else job for job in truth.jobs]
    truth.fewest_rows = truth.most_rows = len(records(site, steps=False))
    return truth


def _texts(job: Job, layout: Layout) -> list[str]:
    return [job.texts.get(name, "") for name in layout.free_text]


def _broken(job: Job, layout: Layout) -> bool:
    return any(set(text) & {"\n", "\r"} for text in _texts(job, layout))


def _guess(job: Job, layout: Layout) -> bool:
    """Whether no reader can be sure which cell is whose: with one free text, all else is found from both ends."""
    delimited = any(layout.delimiter in text for text in _texts(job, layout))
    return _broken(job, layout) or (delimited and len(layout.free_text) > 1)


def _of_jobs(site: Site, fields: Collection[str], guessed: Callable[[Job], bool]) -> Truth:
    truth = Truth()
    for job in site.jobs:
        for parts in [job.parts] if "JobID" in fields else [(part,) for part in job.parts]:
            _count(truth, site, job, parts, fields, guessed(job))
    return truth


def _count(truth: Truth, site: Site, job: Job, parts: tuple[Part, ...], fields: Collection[str], guess: bool) -> None:
    allocated = "AllocTRES" in fields
    ran = [run for run in job.runs if run.ran or (not allocated and run.start is not None)]
    demand = demanded([one for part in parts for one in tracked_gres(part, site, allocated and bool(ran))])
    if demand.gpus == 0:
        truth.without_gpu += bool(ran) and not guess
    elif not ran:
        truth.never_started += "ReqTRES" in fields and not guess
    elif demand.gpus is None:
        told = not guess and any(run.elapsed for run in ran)
        truth.unshared += [one.name for part in parts for one in part.gres] if told else []
    else:
        doubtful = guess or not any(_surely_ran(run, fields) for run in ran)
        known = _known(job, parts, ran, demand, fields)
        (truth.perhaps if doubtful else truth.jobs).append(known)
        truth.mixed += len(parts) > 1 and len(demand.types) > 1 and not guess


def demanded(gres: Iterable[Gres]) -> Demand:
    """GPUs, or the share of one: thousandths of each slice are rounded down, so that seven sevenths fit."""
    entries = list(gres)
    typed = [one for one in entries if one.kind == "gpu" and one.gpu_type] or [
        one for one in entries if one.kind == "gpu"
    ]
    names = [_type(one) for one in typed]
    types = frozenset(name for name in names if name)
    slices = [one for one in typed if one.gpu_type in SLICES]
    milli = sum(1000 * (SLICES[one.gpu_type][1] if one.gpu_type in SLICES else 7) // 7 * one.count for one in typed)
    if any(one.kind != "gpu" for one in entries) or (slices and (milli > 1000 or len(types) > 1)):
        return Demand(None, None, types)
    if slices:
        return Demand(1, milli / 1000, types)
    return Demand(sum(one.count for one in typed), None, types)


def _type(gres: Gres) -> str | None:
    return SLICES[gres.gpu_type][0] if gres.gpu_type in SLICES else TYPES.get(gres.gpu_type)


def _known(job: Job, parts: tuple[Part, ...], ran: list[Run], demand: Demand, fields: Collection[str]) -> Known:
    def told(value: Any, *names: str) -> Any:
        return value if set(names) & set(fields) else None

    ended = job.runs[-1].ran and _surely_ran(job.runs[-1], fields)
    one = len(parts) == len(ran) == 1 and ended
    limit_s = None if job.limit_min is None else 60 * job.limit_min
    shaped = one and demand.fraction is None and demand.gpus is not None and demand.gpus % parts[0].nodes == 0
    return Known(
        submit=_arrival(job.runs[0], fields),
        gpus=demand.gpus or 0,
        fraction=demand.fraction,
        duration=sum(run.elapsed for run in ran),
        types=demand.types,
        status=_status(job.runs[-1].state) if ended else ANY,
        user=told(job.user, "User"),
        account=told(job.account, "Account"),
        partition=told(job.partition, "Partition") if ended else ANY,
        qos=told(job.qos, "QOS"),
        start=ran[0].start if "Start" in fields and _surely_ran(ran[0], fields) else ANY,
        end=ran[-1].end if "End" in fields and ended else ANY,
        limit_s=told(limit_s, "Timelimit", "TimelimitRaw"),
        nodes=parts[0].nodes if shaped else ANY,
        node_list=told(parts[0].node_list, "NodeList") if one else ANY,
    )


def _surely_ran(run: Run, fields: Collection[str]) -> bool:
    """Of a run of 0 s only the allocation tells; and REQUEUED is also the state of a job that waits."""
    return run.elapsed > 0 or ("AllocTRES" in fields and run.state != "REQUEUED")


def _arrival(run: Run, fields: Collection[str]) -> int:
    """When it was submitted and eligible, as far as the export says; it was both before it started."""
    if "Eligible" not in fields or run.eligible is None:
        return run.submit
    eligible = run.eligible if run.start is None or "Start" not in fields else min(run.eligible, run.start)
    return max(run.submit, eligible)


def _status(state: str) -> str:
    words = {"BOOT_FAIL": "NODE_FAIL", "OUT_OF_MEMORY": "FAILED", "DEADLINE": "TIMEOUT"}
    return words.get(state.split()[0], state.split()[0])
