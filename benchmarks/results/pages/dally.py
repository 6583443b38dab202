"""Dally against the same ladder of levels elsewhere, on even, congested and oversubscribed networks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.drawn_jobs import NODE_GPUS, RACK_NODES, poisson, sample
from benchmarks.results.figures import Figures, Where, hours, markdown, signed, span
from benchmarks.results.trials import Trial
from pointsman.cluster.cluster import Cluster

SEEDS = range(5)
WORKLOADS = ("ITP", "Philly", "Helios-like")
GPUS: Final = 256
JOBS, BATCH_JOBS = 16 * GPUS, 2000
WARMUP = 0.2


@dataclass(frozen=True)
class Cell:
    """One set of jobs on one network."""

    workload: str
    cards: str = "200 Gb/s a GPU"
    """Bandwidth of the network cards."""
    uplinks: float = 1.0
    """Times that the uplinks of racks are oversubscribed."""
    congestion: float = 1.0
    """Times that all bandwidth beyond a node is divided by, whoever uses it."""
    contention: str = "none"
    load: float | None = 1.0
    """None: all jobs at once."""


EVEN: Final[Where] = {"cards": "200 Gb/s a GPU", "uplinks": 1.0, "congestion": 1.0, "contention": "none", "load": 1.0}
CONGESTED: Final = {**EVEN, "congestion": 16.0}
RACKS: Final = tuple(
    {**EVEN, "cards": f"{rate} Gb/s a node", "uplinks": by} for rate in (100, 25) for by in (4.0, 16.0)
)
LADDERS: Final = (2, 12, 20)
PLACES: Final = {"consolidated": "whole nodes", "few-racks": "whole nodes, few racks", "tightest": "any place"}


def ladder(levels: int) -> list[float]:
    """Thresholds that double, GPU-s, as Dally's do."""
    return [3250.0 * 2**k for k in range(levels)]


TIRESIAS: Final = tuple(
    Contestant(f"tiresias, {n} levels, {said}", "tiresias", {"thresholds_gpu_s": ladder(n)}, placement=placement)
    for n in LADDERS
    for placement, said in PLACES.items()
)
DALLY: Final = tuple(
    Contestant(f"dally, {n} levels, {said}", policy, {"levels": n})
    for n in LADDERS
    for policy, said in (("dally", "delays"), ("dally-whole-nodes", "whole nodes"), ("dally-nowait", "any place"))
)
BY_PROGRESS: Final = tuple(
    Contestant(f"dally, 12 levels, {said}, by progress", policy, {"sensitive": True})
    for policy, said in (("dally", "delays"), ("dally-whole-nodes", "whole nodes"))
)
PUBLISHED: Final = (
    Contestant("las", "las"),
    Contestant("tiresias", "tiresias"),
    Contestant("tiresias-skew", "tiresias-skew"),
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("fifo-backfill, few racks", "fifo-backfill", placement="few-racks"),
    Contestant("gandiva", "gandiva"),
    Contestant("gandiva, 600 s", "gandiva", {"slice_s": 600}),
    Contestant("gittins", "gittins"),
)
ABLATIONS: Final = tuple(
    Contestant(f"dally-{part}", f"dally-{part}") for part in ("manual", "consolidated", "nopreempt")
)
ORACLES: Final = (Contestant("srtf", "srtf"), Contestant("srtf, any place", "srtf", placement="tightest"))
ALL: Final = (*DALLY, *BY_PROGRESS, *TIRESIAS, *PUBLISHED, *ABLATIONS, *ORACLES)
BASE, WHOLE, SAME = "dally, 12 levels, delays", "dally, 12 levels, whole nodes", "tiresias, 12 levels, whole nodes"
NEAR: Final = "tiresias, 12 levels, whole nodes, few racks"
FEW: Final = tuple(who for who in ALL if who.label in (BASE, WHOLE, f"{BASE}, by progress", SAME, NEAR, "las",
                   "tiresias", "tiresias-skew", "fifo-backfill", "gandiva, 600 s", "gittins", "srtf"))  # fmt: skip


def trials(data: Path) -> Iterator[Trial]:
    """All policies without contention; a few with it, at a lower load, and in batches."""
    for workload in WORKLOADS:
        for where in (EVEN, CONGESTED, *RACKS):
            yield from (Trial(Cell(workload, **where), seed, ALL) for seed in SEEDS)
        for where in (
            *({**racks, "contention": "max-min"} for racks in RACKS),
            *({**net, "load": load} for net in (EVEN, CONGESTED, RACKS[1]) for load in (0.8, None)),
        ):
            yield from (Trial(Cell(workload, **where), seed, FEW) for seed in SEEDS)


@cache
def cluster(cards: str, uplinks: float) -> Cluster:
    """32 nodes of 8 GPUs, 8 in a rack: A100 with a card each, or V100 that share one."""
    rate, _, owner = cards.partition(" a ")
    kind = "a100" if owner == "GPU" else "v100"
    node = {"gpus": NODE_GPUS, "gpu_type": kind, "nic": {"bandwidth": rate, "per": owner.lower()}}
    spec = {
        "node_types": {"node": node}, "nodes": [{"type": "node", "count": GPUS // NODE_GPUS}],
        "nodes_per_rack": RACK_NODES, "network": {"pod": {"oversubscription": uplinks}},
    }  # fmt: skip
    return Cluster.model_validate({"metadata": {"name": f"{cards}, uplinks {uplinks:g}"}, "spec": spec})


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """Jobs drawn from a log or generated, with typical models."""
    jobs = sample(cell.workload, data, GPUS, JOBS if cell.load else BATCH_JOBS, seed, ("typical", 0))
    if cell.load:
        jobs = poisson(jobs, GPUS, cell.load, seed)
    options = {
        "congestion": {"network": cell.congestion}, "contention": cell.contention, "overheads": "realistic",
    }  # fmt: skip
    return Setting(jobs, cluster(cell.cards, cell.uplinks), options, WARMUP if cell.load else 0.0)


NETWORKS: Final = {
    "even: 200 Gb/s a GPU": EVEN,
    "the same, 16 times slower beyond a node": CONGESTED,
    **{f"{net['cards']}, racks {net['uplinks']:g}:1": net for net in RACKS},
}
RIVALS: Final = {
    SAME: "the same ladder, whole nodes", NEAR: "the same, few racks", "las": "las", "fifo-backfill": "fifo-backfill",
    "gittins": "gittins",
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
        for network in (list(NETWORKS)[at] for at in (0, 1, 5)) for n in LADDERS[:2]
    ]  # fmt: skip
    heads = [f"{policy}, {place}" for policy, places in POLICIES.items() for place in places]
    return markdown(("network", "levels", *heads), rows)


POLICIES: Final = {"tiresias": tuple(PLACES.values()), "dally": ("whole nodes", "delays", "any place")}


def _over(figures: Figures, rival: str, networks: Sequence[Where], who: str = BASE) -> str:
    """The range of changes over the workloads and these networks."""
    places = [{"workload": workload, **net} for workload in WORKLOADS for net in networks]
    return span([figures.change(place, who, rival).percent for place in places])


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    shared, crowded = [{**net, "contention": "max-min"} for net in RACKS], {"workload": "ITP", **CONGESTED}
    batches = [{**net, "load": None} for net in (EVEN, CONGESTED, RACKS[1])]
    bare = [figures.mean(crowded, f"tiresias, {n} levels, any place") / 3600 for n in (2, 12)]
    parts = {p: figures.change(HARD, BASE, f"dally-{p}") for p in ("manual", "consolidated", "nopreempt")}
    return "\n".join(
        [
            "* **Yes, where nodes share one card and uplinks of racks are oversubscribed.** Mean JCT changes by "
            f"{_over(figures, SAME, RACKS)} against Tiresias with the same ladder on whole nodes, and by "
            f"{_over(figures, 'fifo-backfill', RACKS)} against `fifo-backfill`. Philly's jobs gain least.",
            "* **Much of that is to keep gangs in few racks**: it is "
            f"{_over(figures, NEAR, RACKS)} against Tiresias with `--placement few-racks`, and "
            f"{_over(figures, NEAR, shared)} where jobs share links max–min fairly.",
            "* **No, where a rack is no better than the whole network**: "
            f"{_over(figures, SAME, [CONGESTED])} against Tiresias on whole nodes if everything beyond a node is 16 "
            "times slower. Its gangs fit one rack, but on more nodes than they need; `dally-whole-nodes` is level.",
            f"* **No, for batches**: mean JCT {_over(figures, SAME, batches)} against the same Tiresias.",
            "* **The ladder matters more than either.** Tiresias placed anywhere on ITP, 16 times slower, takes "
            f"{bare[0]:.1f} h with two levels and {bare[1]:.1f} h with Dally's twelve. Comparisons with Tiresias as "
            "published mix the two.",
            "* **Of its parts preemption does most** (ITP, 25 Gb/s, 16:1): "
            f"{parts['nopreempt']} % against Dally without it, {parts['manual']} % against fixed timers, "
            f"{parts['consolidated']} % against timers that never end.",
            f"* **`gittins` is as good at load 1** where racks are oversubscribed: {_over(figures, 'gittins', RACKS)}. "
            "Where everything beyond a node is 16 times slower, its mean JCT is "
            f"{figures.change(crowded, 'gittins', SAME)} % against the same Tiresias (ITP).",
        ]
    )


def reading(figures: Figures) -> str:
    """Service by progress instead of attained service."""
    other = f"{BASE}, by progress"
    found = [figures.change(cell, other, BASE) for cell in figures.cells(*COLUMNS)]
    worse = [change for change in found if change.low > 0]
    better = [change for change in found if change.high < 0]
    return (
        f"With `dally.sensitive=true`, in {len(found)} cells: worse beyond chance in {len(worse)} (by up to "
        f"{max(change.percent for change in worse):.1f} %), better in {len(better)}."
    )


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
    return markdown(("figure", "the paper: up to", "ours, best cell: rivals as published", SAME, NEAR), rows)


def _changes(figures: Figures, cells: Sequence[Where], rivals: Sequence[str], figure: str) -> list[float]:
    return [
        figures.change(cell, BASE, rival, figure).percent
        for cell in cells
        for rival in rivals
        if figures.ran(cell, rival)
    ]


def told(figures: Figures) -> str:
    """What each policy is told."""
    names = (BASE, "gittins", SAME, "las", "tiresias-skew", "gandiva, 600 s", "fifo-backfill", "srtf")
    return markdown(("policy", "durations", "profiles", "progress"), [[n, *figures.told(n)] for n in names], words=4)


BLOCKS = {
    "answer": answer, "main": main_table, "ladders": ladders, "reading": reading, "claims": claims, "told": told,
}  # fmt: skip


def draw(figures: Figures, path: Path) -> None:
    """Dally against its rivals, a panel for each source of jobs."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from benchmarks.results.axes import open_grid

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
    figure.supxlabel("mean completion time under dally to that under each rival, % (left: dally is better)", fontsize=9)
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
