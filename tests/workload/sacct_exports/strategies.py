"""Draws sites and layouts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from . import free_text
from .as_json import VERSIONS, JsonLayout
from .as_text import Layout
from .site import FREE_TEXT, SLICES, TYPES, Gres, Job, Part, Run, Site

Draw = Callable[[st.SearchStrategy[Any]], Any]

BEGIN_S: Final = 1_772_438_400
"""2 March 2026, 08:00"""
WRAPPED_S: Final = 6_000_000
"""So much later the numbers of jobs begin again."""
NOW_S: Final = BEGIN_S + 10_000_000
FIRST_NUMBER: Final = 100
ENDED: Final = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 1001", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE")
REQUEUED: Final = ("NODE_FAIL", "PREEMPTED", "REQUEUED", "BOOT_FAIL")
NEEDED: Final = ("State", "Submit")
USEFUL: Final = ("User", "Account", "Partition", "QOS", "Eligible", "NNodes", "NodeList", "ReqTRES", "Group")

_seconds = st.integers(0, 90_000)


@st.composite
def sites(draw: Draw) -> Site:
    """Up to some twenty jobs on one or two clusters; the first is plain, so that times count from it."""
    tracked = draw(st.sampled_from(("both", "typed", "untyped")))
    clusters = draw(st.sampled_from((("alpha",), ("alpha", "beta"))))
    early, late = (draw(st.lists(_kinds, max_size=7)) for _ in range(2))
    jobs: list[Job] = [first_job(tracked)]
    for offset, kinds in ((0, early), (WRAPPED_S, late)):
        numbers = dict.fromkeys(clusters, FIRST_NUMBER + (offset == 0))
        for kind in kinds:
            cluster = draw(st.sampled_from(clusters))
            made = kind(draw, numbers[cluster], BEGIN_S + offset + draw(st.integers(1, 2_000_000)), tracked)
            numbers[cluster] = 1 + max(job.number + len(job.parts) - 1 for job in made)
            jobs += [replace(job, cluster=cluster) for job in made]
    jobs.sort(key=lambda job: job.runs[0].submit)
    twice = draw(st.sets(st.integers(0, len(jobs) - 1), max_size=2))
    return Site(tuple(jobs), tracked, draw(st.booleans()), frozenset(twice))


def first_job(tracked: str) -> Job:
    gres = Gres(4, "" if tracked == "untyped" else "v100")
    run = Run(BEGIN_S, "COMPLETED", BEGIN_S, BEGIN_S + 60, BEGIN_S + 3660, 3600, ran=True)
    return Job(FIRST_NUMBER, "ann", (Part((gres,)),), (run,))


def _resources(draw: Draw, tracked: str) -> Part:
    whole = st.integers(1, 16)
    kind = draw(st.sampled_from(("whole", "whole", "whole", "cpu", "slices", "two types", "slice and whole", "shard")))
    if kind == "cpu":
        return Part(())
    if kind == "whole" or tracked == "untyped":
        nodes = draw(st.sampled_from((1, 1, 2, 3)))
        count = nodes * draw(st.integers(1, 8)) if draw(st.booleans()) else draw(whole)
        return Part((Gres(count, "" if tracked == "untyped" else draw(st.sampled_from(list(TYPES)))),), nodes)
    if kind == "slices":
        names = draw(st.lists(st.sampled_from(list(SLICES)), min_size=1, max_size=2, unique=True))
        return Part(tuple(Gres(draw(st.sampled_from((1, 1, 2, 3, 8))), name) for name in names))
    if kind == "slice and whole":
        return Part((Gres(1, "a100"), Gres(1, "a100_1g.5gb")))
    if kind == "shard":
        return Part((Gres(draw(whole), kind="shard"),))
    names = draw(st.lists(st.sampled_from(list(TYPES)), min_size=2, max_size=2, unique=True))
    return Part(tuple(Gres(draw(whole), name) for name in names))


def _ran(draw: Draw, submit: int, state: str) -> Run:
    eligible = submit + draw(st.sampled_from((0, 0, 120, 5000)))
    start = eligible + draw(_seconds)
    elapsed = draw(st.one_of(_seconds, st.just(0)))
    return Run(submit, state, eligible, start, start + elapsed, elapsed, ran=True)


def _last(draw: Draw, submit: int) -> Run:
    """How a job's last submission ended, or that it did not; numbers come again only of jobs that ended."""
    open_ends = ("running", "pending") if submit > BEGIN_S + WRAPPED_S else ()
    kind = draw(st.sampled_from(("ran", "ran", "ran", "ran", "cancelled", "cancelled, older", *open_ends)))
    if kind == "ran":
        return _ran(draw, submit, draw(st.sampled_from(ENDED)))
    if kind == "running":
        start = submit + draw(_seconds)
        return Run(submit, "RUNNING", submit, start, None, NOW_S - start, ran=True)
    if kind == "pending":
        return Run(submit, "PENDING", draw(st.sampled_from((submit, None))))
    end = submit + draw(_seconds)
    start = end if kind == "cancelled, older" else None
    return Run(submit, "CANCELLED by 1001", submit, start, end)


def _runs(draw: Draw, submit: int) -> tuple[Run, ...]:
    """Each requeue is a submission of its own, at the end of the run before."""
    runs: list[Run] = []
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2)))):
        runs.append(_ran(draw, submit, draw(st.sampled_from(REQUEUED))))
        submit = (runs[-1].end or 0) + draw(st.integers(1, 120))
    return (*runs, _last(draw, submit))


def _texts(draw: Draw) -> dict[str, str]:
    """Free text of a job: harmless, with a delimiter wherever, or with a line break in one place."""
    trouble = draw(st.sampled_from(("none", "none", "delimiter", "break")))
    names = ["JobName", *draw(st.lists(st.sampled_from(FREE_TEXT[1:]), max_size=2, unique=True))]
    text = st.one_of(free_text.plain, free_text.delimited) if trouble == "delimiter" else free_text.plain
    texts = {name: draw(text) for name in names}
    if trouble == "break":
        texts[draw(st.sampled_from(names))] = draw(free_text.broken)
    return texts


def _job(draw: Draw, number: int, submit: int, parts: tuple[Part, ...]) -> Job:
    runs = _runs(draw, submit)
    longest_min = max(run.elapsed for run in runs) // 60 + 1
    partition = draw(st.sampled_from(("gpu", "gpu-long")))
    return Job(
        number,
        user=draw(st.sampled_from(("ann", "bob", "Zoë"))),
        parts=parts,
        runs=runs,
        account=draw(st.sampled_from(("lab", "bio"))),
        partition=partition,
        requested=draw(st.sampled_from(("", "gpu,gpu-long", "gpu-long,gpu"))),
        qos=draw(st.sampled_from(("normal", "high"))),
        limit_min=draw(st.one_of(st.integers(longest_min, 2 * longest_min), st.none())),
        texts=_texts(draw),
        steps=tuple(draw(st.sampled_from(((), ("batch", "extern"), ("batch", "extern", "0", "1"), ("interactive",))))),
    )


def _one(draw: Draw, number: int, submit: int, tracked: str) -> list[Job]:
    return [_job(draw, number, submit, (_resources(draw, tracked),))]


def _array(draw: Draw, number: int, submit: int, tracked: str) -> list[Job]:
    """Tasks with numbers of their own; those that wait are one record, under the array's number."""
    part = _resources(draw, tracked)
    tasks = [
        replace(_job(draw, number + 1 + task, submit, (part,)), array=number, task=task)
        for task in range(draw(st.integers(1, 3)))
    ]
    if submit < BEGIN_S + WRAPPED_S or draw(st.booleans()):
        return [replace(task, number=task.number - 1) for task in tasks]
    waiting = Run(submit, "PENDING")
    return [replace(tasks[0], number=number, array=None, task=None, waiting_tasks="4-10%2", runs=(waiting,)), *tasks]


def _het(draw: Draw, number: int, submit: int, tracked: str) -> list[Job]:
    """Parts of whole GPUs, or of none."""
    types = st.sampled_from([""] if tracked == "untyped" else list(TYPES))
    part = st.builds(lambda count, name: Part((Gres(count, name),) if count else ()), st.integers(0, 8), types)
    return [_job(draw, number, submit, tuple(draw(st.lists(part, min_size=2, max_size=3))))]


_kinds = st.sampled_from((_one, _one, _one, _one, _array, _het))


@st.composite
def layouts(draw: Draw, site: Site) -> Layout:
    """Any subset and order of fields that says enough of the site."""
    needed = [*NEEDED, *draw(st.sampled_from((("AllocTRES",), ("AllocTRES",), ("ReqTRES",))))]
    needed += draw(st.sampled_from((("JobID",), ("JobIDRaw",), ("JobID", "JobIDRaw"), ("JobID", "JobIDRaw"))))
    needed += ["Cluster"] if len({job.cluster for job in site.jobs}) > 1 else []
    needed += draw(st.sampled_from((("Start", "End", "ElapsedRaw"), ("Start", "End", "Elapsed"), ("Start", "Elapsed"))))
    needed += draw(st.sampled_from(((), ("TimelimitRaw",), ("Timelimit",))))
    more = draw(st.lists(st.sampled_from(USEFUL), unique=True))
    texts = draw(st.one_of(st.lists(st.sampled_from(FREE_TEXT), max_size=3, unique=True), st.just(["JobName"])))
    return Layout(
        fields=tuple(draw(st.permutations(list(dict.fromkeys([*needed, *more, *texts]))))),
        delimiter=draw(st.sampled_from(free_text.DELIMITERS)),
        case=draw(st.sampled_from((str, str.lower, str.upper))),
        trailing=draw(st.booleans()),
        junk=draw(st.sampled_from(("", "", "sacct: warning: something\n", "\ufeff", "\n"))),
        headers=draw(st.sampled_from((0, 0, 3))),
        tail=draw(st.sampled_from(("", "", "\n", "\n\n# end\n"))),
        line_end=draw(st.sampled_from(("\n", "\n", "\r\n"))),
        epochs=draw(st.booleans()),
        order=draw(st.sampled_from(("submitted", "ids", "reversed"))),
    )


json_layouts = st.builds(
    JsonLayout, st.sampled_from(VERSIONS), st.booleans(), st.sampled_from((None, 1)), st.booleans()
)
