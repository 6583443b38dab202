"""What is filled into the page."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from benchmarks.results.figures import Difference, Figures, Where, bold, hours, how_many_sure, markdown, span, spread
from benchmarks.topdrl.comparisons import (
    JCT,
    NEAR,
    OWN,
    PAPER,
    SITE,
    TRAINED,
    WORK,
    ahead,
    cells,
    later,
    most,
    name,
    own,
    pooled,
)
from benchmarks.topdrl.contestants import (
    CHOICES,
    DEEPRM,
    FIFO,
    FIFO_RACKS,
    FIVE,
    LAS,
    LAS_RACKS,
    MISLEADING,
    PATIENT,
    PROXIMITY,
    SIGMAS,
    TOPDRL,
    TOPDRLS,
)

NAMED: Final = "`fifo-backfill`, `las`, `dally` and `gittins`"
SHOWN: Final = (*PAPER, FIFO_RACKS, LAS_RACKS, "dally", "gittins")


def _span(figures: Figures, what: str, change: Callable[[Where], Difference]) -> str:
    return span([change(where).percent for where in cells(figures, what)])


def answer(figures: Figures) -> str:
    """The bullets."""
    home, logs = own("throughput"), _logs(figures)
    paper = _span(figures, "throughput", lambda where: ahead(figures, where, PAPER))
    site, on_logs = ahead(figures, home, SITE), span([ahead(figures, where, SITE).percent for where in logs])
    fifo = figures.change(home, FIVE, FIFO, WORK)
    late = [later(figures, where, SITE) for where in cells(figures, "completion")]
    sure = f"{sum(change.low > 0 for change in late)} of {len(late)}"
    near, near_on_logs = ahead(figures, home, NEAR), [ahead(figures, where, NEAR) for where in logs]
    return f"""\
* {recommendation(figures)}
* **TopDRL beats the baselines of its paper.** Throughput with jobs always waiting, relative to the best of the six:
  {paper}.
* **It beats {NAMED} only on the authors' set-up.** Throughput relative to the best of
  these is {site} % there and {on_logs} on logs. Relative to consolidated `fifo-backfill`, which uses neither
  durations nor profiles, it is {fifo} % there.
* **It completes jobs later.** Mean JCT at load 1 relative to the best of the same is
  {spread(late)}; in {sure} cells the interval excludes 0.
* **On logs, its choice of jobs gains little.** Throughput relative to the best fixed picker with the same GPUs:
  {near} % on the authors' set-up, {spread(near_on_logs)} on logs (significant in {how_many_sure(near_on_logs)} cells).
"""


def _logs(figures: Figures) -> list[dict[str, Any]]:
    return [cell for cell in cells(figures, "throughput") if cell["workload"] != OWN["workload"]]


def recommendation(figures: Figures) -> str:
    """It depends on what was found on the logs."""
    wins = [name(where) for where in _logs(figures) if ahead(figures, where, SITE).low > 0]
    if wins:
        return f"**Train it** if throughput matters more than JCT, and your cluster is like {', '.join(wins)}."
    gains = {policy: _over_topdrl(figures, policy) for policy in ("gittins", LAS_RACKS)}
    return (
        f"**No: use `gittins`.** On logs it has {gains['gittins']} relative to TopDRL\n"
        f"  ({_certain(figures, 'gittins')}). If your models have no profiles, use\n"
        f"  `las` with `--placement few-racks`: {gains[LAS_RACKS]} ({_certain(figures, LAS_RACKS)})."
    )


def _certain(figures: Figures, policy: str) -> str:
    """In how many cells of logs each of both measures is beyond its interval."""
    work, late = (
        [figures.change(where, policy, FIVE, measure).is_sure for where in cells(figures, what)[1:]]
        for what, measure in (("throughput", WORK), ("completion", JCT))
    )
    return f"significant in {sum(work)} and {sum(late)} of {len(work)} cells"


def _over_topdrl(figures: Figures, policy: str) -> str:
    """Both measures of a policy on the logs, relative to TopDRL."""
    work, late = (
        span([figures.change(where, policy, FIVE, measure).percent for where in cells(figures, what)[1:]])
        for what, measure in (("throughput", WORK), ("completion", JCT))
    )
    return f"{work} throughput and {late} mean JCT"


def _information(figures: Figures, policy: str) -> str:
    return "/".join(figures.told(policy))


def table(figures: Figures) -> str:
    """Throughput of the others relative to TopDRL, whose own is in the heads of the columns."""
    where = cells(figures, "throughput")
    rows = [
        [policy, _information(figures, policy), *(bold(figures.change(cell, policy, FIVE, WORK)) for cell in where)]
        for policy in SHOWN
    ]
    heads = (f"{name(cell)}: {figures.mean(cell, FIVE, WORK):.3f}" for cell in where)
    return markdown(("policy", "information", *heads), rows, words=2)


def completion(figures: Figures) -> str:
    """Mean completion time of the others relative to TopDRL, likewise."""
    where = cells(figures, "completion")
    rows = [[policy, *(bold(figures.change(cell, policy, FIVE, JCT)) for cell in where)] for policy in SHOWN]
    heads = (f"{name(cell)}: {hours(figures.mean(cell, FIVE))} h" for cell in where)
    return markdown(("policy", *heads), rows)


def consolidated(figures: Figures) -> str:
    """What few racks bring those that place on whole nodes."""
    return (
        "`fifo-backfill` and `las` consolidated, without regard to racks: throughput relative to TopDRL "
        f"{_span(figures, 'throughput', lambda w: figures.change(w, FIFO, FIVE, WORK))} and "
        f"{_span(figures, 'throughput', lambda w: figures.change(w, LAS, FIVE, WORK))}; mean JCT "
        f"{_span(figures, 'completion', lambda w: figures.change(w, FIFO, FIVE, JCT))} and "
        f"{_span(figures, 'completion', lambda w: figures.change(w, LAS, FIVE, JCT))}.\n"
    )


def claims(figures: Figures) -> str:
    """The paper's claims."""
    home, where = own("throughput"), cells(figures, "throughput")
    wins, wins_near = (
        _sure(figures.change(cell, FIVE, policy, WORK) for cell in where for policy in policies)
        for policies in (PAPER, NEAR)
    )
    elsewhere = {
        how: [figures.change(cell, TOPDRL, f"{TOPDRL}, GPUs: {how}", WORK) for cell in where] for how in CHOICES
    }
    choices = "; ".join(f"{how} {spread(of)}" for how, of in elsewhere.items())
    gain, best = figures.change(home, FIVE, "FCFS + first", WORK), ahead(figures, home, PAPER)
    worse = _sure(change for of in elsewhere.values() for change in of)
    near = _span(figures, "throughput", lambda cell: ahead(figures, cell, NEAR))
    rows = [
        ["more throughput than six baselines", f"TopDRL is ahead, significantly in {wins} cases"],
        ["47 % more throughput (two secondary sources)",
         f"{gain} % relative to FCFS with the first GPUs on the authors' set-up, {best} % relative to the best "
         "of the six"],
        ["nearest GPUs", f"the same network with nearest GPUs, relative to other choices: {choices}; "
         f"significantly more in {worse} cases"],
        ["a network picks the job",
         f"{near} relative to the best fixed picker with nearest GPUs; significantly more in {wins_near} cases"],
    ]  # fmt: skip
    return markdown(("claim", "measured (throughput)"), rows, words=2)


def _sure(changes: Iterable[Difference]) -> str:
    """In how many TopDRL is significantly ahead."""
    found = [change.low > 0 for change in changes]
    return f"{sum(found)} of {len(found)}"


def free(figures: Figures) -> str:
    """Without overheads."""
    bare = [ahead(figures, w, SITE, TOPDRL).percent for w in cells(figures, "throughput", "none")]
    late = [later(figures, w, SITE, TOPDRL).percent for w in cells(figures, "completion", "none")]
    fifo, ours = (figures.mean(own("throughput", "none"), policy, WORK) for policy in (FIFO, TOPDRL))
    return (
        f"* **Without overheads** (`--overheads none`), throughput relative to the best of {NAMED}: "
        f"{span(bare)}; mean JCT: {span(late)}. Consolidated `fifo-backfill` has a throughput of {fifo:.3f} per "
        f"GPU on the authors' set-up, TopDRL {ours:.3f}.\n"
    )


def batches(figures: Figures) -> str:
    """All jobs at once."""
    where = cells(figures, "batch")
    changes = [figures.change(cell, TOPDRL, "Tetris + nearest", "makespan_s") for cell in where]
    worst = max(changes, key=lambda change: change.percent)
    return (
        "* **Batches.** Makespan of 200 jobs at once, relative to Tetris with nearest GPUs: "
        f"{spread(changes)}; worst {worst} %.\n"
    )


def estimates(figures: Figures) -> str:
    """Wrong durations."""
    work, late = (
        [
            figures.change(w, f"{TOPDRL}, σ = {s:g}", TOPDRL, figure).percent
            for s in SIGMAS
            for w in cells(figures, what)
        ]
        for what, figure in (("throughput", WORK), ("completion", JCT))
    )
    others = [
        figures.change(w, f"SJF + nearest, σ = {s:g}", "SJF + nearest", WORK).percent
        for s in SIGMAS
        for w in cells(figures, "throughput")
    ]
    misled = [
        figures.change(cell, f"{DEEPRM}, {MISLEADING}", DEEPRM, WORK).percent
        for cell in cells(figures, "throughput")
        if cell["gpus"] < 256
    ]
    return (
        f"* **Wrong durations** (a log-normal factor, σ = 0.5, 1) change TopDRL's throughput by {span(work)} and "
        f"its mean JCT by {span(late)}. They change SJF's throughput by {span(others)}, DeepRM's "
        f"({MISLEADING}, 32 and 64 GPUs) by {span(misled)}.\n"
    )


def waiting(figures: Figures) -> str:
    """A bound on waiting."""
    where = cells(figures, "waiting")
    work, late, worst = (
        [figures.change(cell, PATIENT.label, TOPDRL, figure) for cell in where]
        for figure in (WORK, JCT, "fairness_rho_max")
    )
    return (
        f"At load 3 it changes the worst finish-time ratio ρ by {span([w.percent for w in worst])}, "
        f"mean JCT by {span([w.percent for w in late])}, throughput by {span([w.percent for w in work])}.\n"
    )


def trainings(figures: Figures) -> str:
    """How far apart they are, and how many of TopDRL's show what their mean shows."""
    where = cells(figures, "throughput")
    home, *logs = where
    apart = [f"{who} {_apart(figures, where, label)}" for who, label in LEARNED.items()]
    ahead_of = [figures.change(home, who.label, most(figures, home, SITE), WORK).low > 0 for who in TOPDRLS]
    best = [max(figures.mean(cell, who.label, WORK) for who in TOPDRLS) for cell in logs]
    behind = [
        100 * (mine / figures.mean(cell, most(figures, cell, SITE), WORK) - 1)
        for mine, cell in zip(best, logs, strict=True)
    ]
    return (
        f"* **Trainings.** Throughput of the best of five relative to the worst, by cell: {', '.join(apart)}. "
        f"Relative to the best of {NAMED}, {sum(ahead_of)} of TopDRL's five are significantly ahead on the authors' "
        f"set-up; the best of the five has {span(behind)} on logs.\n"
    )


LEARNED: Final = {"TopDRL": FIVE, "DeepRM": DEEPRM, "Proximity-DRL": PROXIMITY}


def _apart(figures: Figures, where: Iterable[Where], label: str) -> str:
    alone = [[figures.mean(cell, who.label, WORK) for who in TRAINED[label]] for cell in where]
    return span([100 * (max(values) / min(values) - 1) for values in alone])


def other(figures: Figures) -> str:
    """The smaller questions."""
    return "".join(make(figures) for make in (free, batches, estimates, trainings))


MADE: Final[Mapping[str, Callable[[Figures], str]]] = {
    "answer": answer, "throughput": table, "completion": completion, "consolidated": consolidated, "claims": claims,
    "other": other, "waiting": waiting,
}  # fmt: skip


def _of_pooled(make: Callable[[Figures], str]) -> Callable[[Figures], str]:
    return lambda figures: make(pooled(figures))


BLOCKS: Final = {block: _of_pooled(make) for block, make in MADE.items()}
