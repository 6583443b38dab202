"""What is filled into the page of Dally, and its picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.results.axes import open_grid
from benchmarks.results.figures import Difference, Figures, Where, hours, how_many_sure, markdown, signed, span, spread

WORKLOADS: Final = ("ITP", "Philly", "Helios-like")
EVEN: Final[Where] = {"cards": "200 Gb/s a GPU", "uplinks": 1.0, "congestion": 1.0, "contention": "none", "load": 1.0}
CONGESTED: Final = {**EVEN, "congestion": 16.0}
RACKS: Final = tuple(
    {**EVEN, "cards": f"{rate} Gb/s a node", "uplinks": by} for rate in (100, 25) for by in (4.0, 16.0)
)
LADDERS: Final = (2, 12, 20)
PLACES: Final = {"consolidated": "whole nodes", "few-racks": "whole nodes, few racks", "tightest": "any place"}
BASE, WHOLE, SAME = "dally, 12 levels, delays", "dally, 12 levels, whole nodes", "tiresias, 12 levels, whole nodes"
NEAR: Final = "tiresias, 12 levels, whole nodes, few racks"


NETWORKS: Final = {
    "200 Gb/s per GPU": EVEN,
    "200 Gb/s per GPU, 16 times slower beyond a node": CONGESTED,
    **{f"{str(net['cards']).replace(' a ', ' per ')}, racks {net['uplinks']:g}:1": net for net in RACKS},
}
RIVALS: Final = {
    SAME: "tiresias, 12 levels, whole nodes", NEAR: "the same, few racks", "las": "las",
    "fifo-backfill": "fifo-backfill", "gittins": "gittins",
}  # fmt: skip
SHOWN: Final = (
    *(("ITP", network) for network in NETWORKS),
    *((workload, list(NETWORKS)[at]) for workload in ("Helios-like", "Philly") for at in (1, 5)),
)
HARD: Final = {"workload": "ITP", **RACKS[3]}


def _cell(workload: str, network: str) -> Where:
    return {"workload": workload, **NETWORKS[network]}


def main_table(figures: Figures) -> str:
    """Dally against each rival, on each network."""
    rows = [
        [workload, network, hours(figures.mean(_cell(workload, network), BASE)),
         *(str(figures.change(_cell(workload, network), BASE, rival)) for rival in RIVALS if rival != "las")]
        for workload, network in SHOWN
    ]  # fmt: skip
    return markdown(
        ("jobs", "network", "dally, h", *(said for rival, said in RIVALS.items() if rival != "las")), rows, 2
    )


def ladders(figures: Figures) -> str:
    """Mean JCT by ladder and place, where places matter most."""
    rows = [
        [network, str(n), *(hours(figures.mean(_cell("ITP", network), f"{policy}, {n} levels, {place}"))
                            for policy, places in POLICIES.items() for place in places)]
        for network in (list(NETWORKS)[at] for at in (1, 5)) for n in LADDERS[:2]
    ]  # fmt: skip
    heads = [f"{policy}, {place}" for policy, places in POLICIES.items() for place in places]
    return markdown(("network", "levels", *heads), rows)


POLICIES: Final = {"tiresias": tuple(PLACES.values()), "dally": ("whole nodes", "delays", "any place")}


def _over(figures: Figures, rival: str, networks: Sequence[Where], who: str = BASE) -> str:
    """The range of changes over the workloads and these networks."""
    return span([figures.change(place, who, rival).percent for place in everywhere(networks)])


def _gains_least(figures: Figures) -> str:
    """The workload whose largest change against Tiresias with the same levels is the smallest."""
    most = {
        workload: min(figures.change({"workload": workload, **net}, BASE, SAME).percent for net in RACKS)
        for workload in WORKLOADS
    }
    return max(most, key=lambda workload: most[workload])


def _significant(figures: Figures, other: str) -> str:
    """In how many cells with oversubscribed uplinks the difference is beyond its interval."""
    found = [figures.change(cell, BASE, other) for cell in everywhere(RACKS)]
    return f"significant in {how_many_sure(found)} cells"


def beyond(found: Sequence[Difference]) -> str:
    """How many differences have an interval without 0."""
    return f"beyond the interval in {how_many_sure(found)} cells"


def everywhere(networks: Sequence[Where]) -> list[Where]:
    """These networks with each workload."""
    return [{"workload": workload, **net} for workload in WORKLOADS for net in networks]


SHARED: Final = [{**net, "contention": "max-min"} for net in RACKS]
BATCHES: Final = [{**net, "load": None} for net in (EVEN, CONGESTED, RACKS[1])]
CROWDED: Final = {"workload": "ITP", **CONGESTED}


def substitutes(figures: Figures) -> dict[tuple[str, int], float]:
    """Hours of mean JCT of Tiresias by place and number of levels, on the slow network."""
    return {
        (place, n): figures.mean(CROWDED, f"tiresias, {n} levels, {place}") / 3600
        for place in ("any place", "whole nodes")
        for n in (2, 12)
    }


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    found = substitutes(figures)
    parts = {p: figures.change(HARD, BASE, f"dally-{p}") for p in ("manual", "consolidated", "nopreempt")}
    return "\n".join(
        [
            "* **Yes, where a node's GPUs share one network card and uplinks of racks are oversubscribed.** Mean JCT "
            "changes by "
            f"{_over(figures, SAME, RACKS)} against Tiresias with the same levels on whole nodes "
            f"({_significant(figures, SAME)}), and by "
            f"{_over(figures, 'fifo-backfill', RACKS)} against `fifo-backfill`. {_gains_least(figures)} jobs gain "
            "least.",
            "* **Part of that comes from using few racks**: mean JCT changes by "
            f"{_over(figures, NEAR, RACKS)} against Tiresias with `--placement few-racks` "
            f"({_significant(figures, NEAR)}), and by "
            f"{_over(figures, NEAR, SHARED)} where jobs share links max–min fairly.",
            "* **No, where racks are no faster than the whole network**: "
            f"{_over(figures, SAME, [CONGESTED])} against Tiresias on whole nodes if all bandwidth beyond a node is "
            "16 times lower. Its gangs fit one rack but use more nodes than they need. `dally-whole-nodes` is level "
            f"({_over(figures, SAME, [CONGESTED], WHOLE)}).",
            f"* **No, for batches**: mean JCT {_over(figures, SAME, BATCHES)} against the same Tiresias.",
            "* **Levels and placement are substitutes** (ITP, 16 times slower). Tiresias in any place takes "
            f"{found['any place', 2]:.1f} h with two levels and {found['any place', 12]:.1f} h with Dally's twelve. On "
            f"whole nodes it takes {found['whole nodes', 2]:.1f} and {found['whole nodes', 12]:.1f} h. Comparisons "
            "with Tiresias as published mix the two.",
            "* **Preemption is its most important part** (ITP, 25 Gb/s, 16:1): "
            f"{parts['nopreempt']} % against Dally without it. Fixed timers: {parts['manual']} %. Timers that never "
            f"end: {parts['consolidated']} %.",
            "* **`gittins` is as good** as either. Where racks are oversubscribed, Dally's mean JCT is "
            f"{_over(figures, 'gittins', RACKS)} relative to it, "
            f"{beyond([figures.change(cell, BASE, 'gittins') for cell in everywhere(RACKS)])}. With 16 times less "
            "bandwidth beyond a node it places gangs on [whole "
            "nodes](../adr/0019-places-by-what-the-network-costs.md), and is "
            f"{_over(figures, SAME, [CONGESTED], 'gittins')} against the same Tiresias.",
        ]
    )


def reading(figures: Figures) -> str:
    """Service by progress instead of attained service."""
    found = _against(figures, f"{BASE}, by progress", BASE)
    worse = [change for change in found if change.low > 0]
    better = [change for change in found if change.high < 0]
    return (
        f"With `dally.sensitive=true`, mean JCT is longer beyond the interval in {len(worse)} of {len(found)} cells "
        f"(by up to {max(change.percent for change in worse):.1f} %), and shorter in {len(better)}."
    )


def _against(figures: Figures, who: str, other: str) -> list[Difference]:
    """In each cell where both ran."""
    cells = [cell for cell in figures.cells(*COLUMNS) if figures.ran(cell, who) and figures.ran(cell, other)]
    return [figures.change(cell, who, other) for cell in cells]


def _range(figures: Figures, who: str, other: str) -> str:
    found = _against(figures, who, other)
    return f"{spread(found)}, {beyond(found)}"


def twenty(figures: Figures) -> str:
    """20 levels instead of 12."""
    levels = {who: _range(figures, f"{who}, 20 levels, {place}", f"{who}, 12 levels, {place}") for who, place in FINE}
    found = "; ".join(f"`{who}` {change}" for who, change in levels.items())
    return f"20 levels instead of 12 change mean JCT by: {found}."


FINE: Final = (("dally", "delays"), ("tiresias", "whole nodes"))


def timers(figures: Figures) -> str:
    """Fixed timers instead of tuned ones."""
    return (
        "*Claim*: auto-tuned timers matter. *Found*: fixed timers of two and four hours change mean JCT by "
        f"{_range(figures, 'dally-manual', BASE)}."
    )


def slices(figures: Figures) -> str:
    """Gandiva's published time slices against long ones."""
    percent = [change.percent for change in _against(figures, "gandiva", "gandiva, 600 s")]
    low, high = (1 + end / 100 for end in (min(percent), max(percent)))
    return f"* **Gandiva**: with its published slices of 60 s JCT is {low:.1f} to {high:.1f} times that with 600 s."


COLUMNS: Final = ("workload", "cards", "uplinks", "congestion", "contention", "load")
CLAIMS: Final = {
    "makespan_s": ("makespan of batches", "−69 %"),
    "jct_mean_s": ("mean JCT", "−83 %"),
    "comm_mean_s": ("waiting for communication", "−98 %"),
}
AS_PUBLISHED: Final = ("tiresias-skew", "tiresias", "las", "gandiva, 600 s")


def claims(figures: Figures) -> str:
    """The paper's best figures beside ours, against rivals as published and against the same ladder."""
    rows = []
    for figure, (what, published) in CLAIMS.items():
        cells = [c for c in figures.cells(*COLUMNS) if (c["load"] is None) == (figure == "makespan_s")]
        best = [min(_changes(figures, cells, rivals, figure)) for rivals in (AS_PUBLISHED, (SAME,), (NEAR,))]
        rows.append([what, published, *(f"{signed(value, 0)} %" for value in best)])
    return markdown(("figure", "paper: up to", "ours, best cell: rivals as published", SAME, NEAR), rows)


def _changes(figures: Figures, cells: Sequence[Where], rivals: Sequence[str], figure: str) -> list[float]:
    return [
        figures.change(cell, BASE, rival, figure).percent
        for cell in cells
        for rival in rivals
        if figures.ran(cell, rival)
    ]


def information(figures: Figures) -> str:
    """What each policy uses."""
    names = (BASE, "gittins", SAME, "las", "tiresias-skew", "gandiva, 600 s", "fifo-backfill", "srtf")
    return markdown(("policy", "durations", "profiles", "progress"), [[n, *figures.told(n)] for n in names], words=4)


BLOCKS = {
    "answer": answer, "main": main_table, "levels": ladders, "twenty": twenty, "reading": reading, "claims": claims,
    "timers": timers, "slices": slices, "information": information,
}  # fmt: skip


def draw(figures: Figures, path: Path) -> None:
    """Dally against its rivals, a panel for each source of jobs."""
    mpl.rcParams["svg.hashsalt"] = "dally"
    figure = Figure(figsize=(8.5, 3.4), layout="constrained")
    for axes, workload in zip(figure.subplots(1, 3, sharey=True), WORKLOADS, strict=True):
        for (rival, label), marker in zip(RIVALS.items(), "os^vD", strict=True):
            found = [figures.change(_cell(workload, network), BASE, rival).percent for network in NETWORKS]
            axes.plot(found, range(len(NETWORKS)), marker, label=label, markersize=6)
        axes.axvline(0.0, color="black", linewidth=0.8)
        axes.set_title(workload, fontsize=10)
        axes.set_yticks(
            range(len(NETWORKS)), [name.replace(", ", ",\n").replace(" beyond", "\nbeyond") for name in NETWORKS]
        )
        axes.tick_params(labelsize=8)
        open_grid(axes)
    figure.axes[0].invert_yaxis()
    figure.supxlabel(
        "mean completion time of dally relative to each rival, % (left is better; scales differ)", fontsize=9
    )
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
