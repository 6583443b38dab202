"""What is filled into the page of LWF, and its picture."""

from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.results.axes import open_grid
from benchmarks.results.figures import Difference, Figures, Where, how_many_sure, markdown, plain, signed, span, spread

CODE, PAPER, SLOW = "code", "paper (recalled)", "code, 1 GbE"
BASE: Final = "LWF-1, Ada-SRSF"
PUBLISHED: Final = 1.59
"""Mean JCT of first-fit over that of LWF-κ, by the paper."""
PLACES: Final = ("LWF-1", "LWF-2", "LWF-4", "LWF-8", "first-fit", "list scheduling", "random")
CONTENDED: Final = ("LWF-1", "first-fit", "list scheduling", "random")
OTHERS: Final = ("SRSF(1)", "SRSF(2)", "SRSF(3)", "all at once")
ALONE: Final = ("srtf", "sjf-backfill", "fifo-backfill", BASE)


def at(workload: str, sharing: int = 8) -> Where:
    """The cell."""
    return {"workload": workload, "sharing": sharing}


def cells() -> list[tuple[str, str]]:
    """Workloads and placements with every admission."""
    return [
        (CODE, "LWF-1"), (PAPER, "LWF-1"), *((CODE, place) for place in CONTENDED[1:]),
        *((SLOW, place) for place in CONTENDED),
    ]  # fmt: skip


def ada(figures: Figures, workload: str, place: str, other: str) -> Difference:
    """Of Ada-SRSF to another admission."""
    return figures.change(at(workload), f"{place}, Ada-SRSF", f"{place}, {other}")


def alone(figures: Figures, workload: str, policy: str) -> Difference:
    """Of a policy that gives each GPU to one job, to LWF-1 with Ada-SRSF that shares them."""
    return figures.change(at(workload, 1), policy, BASE, base_where=at(workload))


def times(figures: Figures, workload: str) -> str:
    """Mean JCT of first-fit over that of LWF-1."""
    where = at(workload)
    return f"{figures.mean(where, 'first-fit, Ada-SRSF') / figures.mean(where, BASE):.2f}"


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    blind, sjf, srtf = ([alone(figures, w, p).percent for w in (CODE, PAPER)] for p in ALONE[2::-1])
    levels = [ada(figures, w, "LWF-1", "SRSF(1)") for w in (CODE, PAPER)]
    freely = [ada(figures, w, "LWF-1", "all at once").percent for w in (CODE, PAPER)]
    larger = [figures.change(at(CODE), f"{place}, Ada-SRSF", BASE).percent for place in PLACES[1:4]]
    errors = [str(figures.change(at(CODE), f"{BASE}, σ = {sigma}", BASE)) for sigma in ("0.5", "1")]
    return "\n".join(
        [
            "* **Prefer one job per GPU, and gangs on whole nodes.** Relative to Ada-SRSF with LWF-1, mean JCT is "
            f"{span(blind)} with `fifo-backfill`, which requires no durations. With the same durations, it is "
            f"{span(sjf)} with `sjf-backfill` and {span(srtf)} with `srtf`.",
            f"* **If jobs share GPUs, place by LWF-1.** First-fit takes {times(figures, CODE)} times its mean JCT. "
            f"Larger κ changes mean JCT by {span(larger)}.",
            "* **Start one transfer on a link at a time**, as SRSF(1) does. Relative to it, Ada-SRSF changes mean JCT "
            f"by {spread(levels)}, beyond the interval in "
            f"{how_many_sure(levels)} workloads. Relative to starting all at once, "
            f"Ada-SRSF changes mean JCT by {span(freely)}.",
            f"* **Errors in durations** change mean JCT by {errors[0]} % with σ = 0.5 and by {errors[1]} % with σ = 1.",
        ]
    )


def placement(figures: Figures) -> str:
    """Of gangs, all with Ada-SRSF."""
    rows = []
    for place in PLACES:
        policy, where = f"{place}, Ada-SRSF", at(CODE)
        mean = figures.mean(where, policy)
        changed = "–" if policy == BASE else str(figures.change(where, policy, BASE))
        sent = figures.mean(where, policy, "comm_mean_s") / (mean - figures.mean(where, policy, "pending_mean_s"))
        rows.append(
            [place, plain(mean), changed, plain(figures.mean(where, policy, "makespan_s")), f"{100 * sent:.0f}"]
        )
    return markdown(("placement", "mean JCT, s", "to LWF-1, %", "makespan, s", "communicating, %"), rows)


def admission(figures: Figures) -> str:
    """Ada-SRSF against every other admission."""
    rows = [
        [workload, place, *(str(ada(figures, workload, place, other)) for other in OTHERS)]
        for workload, place in cells()
        if place != "list scheduling"
    ]
    return markdown(("workload", "placement", *OTHERS), rows, words=2)


def unshared(figures: Figures) -> str:
    """Policies that give each GPU to one job."""
    rows = [
        [policy if policy == BASE else f"`{policy}`", *figures.told(policy), plain(figures.mean(at(CODE, 1), policy)),
         *(str(alone(figures, workload, policy)) for workload in (CODE, PAPER))]
        for policy in ALONE
    ]  # fmt: skip
    columns = ("policy", "durations", "profiles", "progress", "mean JCT, s (code)", "code, %", "paper, %")
    return markdown(columns, rows, words=4)


def claims(figures: Figures) -> str:
    """Of the paper's abstract."""
    rows = [
        [f"LWF-κ is up to {PUBLISHED} times as good as first-fit.",
         f"{times(figures, CODE)} times (code), {times(figures, PAPER)} (paper)",
         "met" if max(float(times(figures, workload)) for workload in (CODE, PAPER)) >= PUBLISHED else "not met"],
    ]  # fmt: skip
    for other, published in (("SRSF(1)", "20.1"), ("SRSF(2)", "36.7")):
        found = {workload: ada(figures, workload, "LWF-1", other) for workload in (CODE, PAPER)}
        met = max(change.percent for change in found.values()) <= -float(published)
        rows.append(
            [f"Mean JCT with Ada-SRSF is {published} % below {other}.",
             f"{found[CODE]} % (code), {found[PAPER]} % (paper)", "met" if met else "not met"]
        )  # fmt: skip
    return markdown(("claim", "here", "met?"), rows, words=3)


def scattered(figures: Figures) -> str:
    """Where another admission is certainly ahead of Ada-SRSF."""
    behind = [
        f"{other} by {signed(found.percent)} % ({workload}, {place})"
        for workload, place in cells()
        for other in OTHERS
        if (found := ada(figures, workload, place, other)).low > 0
    ]
    ahead = sum(ada(figures, *cell, other).high < 0 for cell in cells() for other in OTHERS)
    many = len(cells()) * len(OTHERS)
    where = f": {'; '.join(behind)}" if behind else ""
    return (
        f"Ada-SRSF is ahead beyond the interval in {ahead} of {many} comparisons. It is behind in {len(behind)}{where}."
    )


BLOCKS: Final = {
    "answer": answer, "placement": placement, "admission": admission, "unshared": unshared, "claims": claims,
    "scattered": scattered,
}  # fmt: skip
LOOKS: Final = {
    "Ada-SRSF": ("D", "tab:orange"), "SRSF(1)": ("o", "tab:blue"), "SRSF(2)": ("^", "tab:green"),
    "SRSF(3)": ("v", "tab:purple"), "all at once": ("x", "tab:red"),
}  # fmt: skip

LABELS: Final = {"all at once": "all transfers at once"}


def draw(figures: Figures, path: Path) -> None:
    """Mean JCT by placement and admission, beside policies that do not share GPUs."""
    mpl.rcParams["svg.hashsalt"] = "lwf"
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    axes = figure.subplots()
    for said, (marker, colour) in LOOKS.items():
        means = [figures.mean(at(CODE), f"{place}, {said}") for place in CONTENDED]
        label = LABELS.get(said, said)
        axes.plot(means, range(len(means)), marker, color=colour, label=label, markersize=8, markeredgewidth=1.6,
                  fillstyle="none")  # fmt: skip
    for policy, dashes in (("sjf-backfill", "--"), ("fifo-backfill", ":")):
        axes.axvline(
            figures.mean(at(CODE, 1), policy), color="black", linestyle=dashes, label=f"{policy}, one job per GPU"
        )
    axes.set_yticks(range(len(CONTENDED)), CONTENDED)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("mean completion time, s (left is better)")
    open_grid(axes)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None})
