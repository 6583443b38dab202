"""What is filled into Meta-RL's page."""

from collections.abc import Callable, Iterable
from typing import Final

from benchmarks.metarl.cells import BASE, CHANGED, SHORT, Cell
from benchmarks.metarl.contestants import CEILING, FROZEN, ITSELF, NOTHING
from benchmarks.placement.means import BOUND, Means, of_page
from benchmarks.results.figures import Difference, bold, how_many_sure, markdown, signed, span, spread
from benchmarks.results.trials import study

BASELINES: Final = ("lb", "tetris-place", "lif, demands known")
PACKED, UNTAUGHT, NETWORK, UNEXPLORED = "packed", NOTHING.label, "metarl, no network", "metarl, no exploration"
PLAIN: Final = "metarl, plain training"
REGIMES: Final = (*BASE, *CHANGED)
WIDE, ITP, PHILLY = Cell("1-16"), Cell("ITP cluster04"), Cell("Philly")
SHOWN: Final = (*REGIMES, WIDE, Cell(nic_gbps=100.0, cpus=48), ITP, PHILLY)
COLUMNS: Final = (BOUND, PACKED, CEILING, FROZEN, ITSELF)
PARTS: Final = {
    FROZEN: "frozen",
    UNTAUGHT: "nothing meta-learnt",
    NETWORK: "no network",
    UNEXPLORED: "no exploration",
    "metarl, exploring anywhere": "exploring anywhere",
    PLAIN: "plain training",
    "Harmony-like": "Harmony-like",
    "metarl, adapting": "adapting (`metarl.steps=3`)",
    "metarl, adapting from scratch": "adapting from an untaught network",
}
OF_SHORT: Final = (ITSELF, FROZEN, PLAIN, NETWORK, UNTAUGHT)
OWN, OTHER = "metarl-1", "none"
"""Checkpoints whose model the page describes."""


def _changes(means: Means, cells: Iterable[Cell], who: str, other: str) -> list[Difference]:
    return [means.above(cell, who, other) for cell in cells]


def _below(means: Means, cells: Iterable[Cell], who: str) -> str:
    found = [round(means.below(cell, who).percent) for cell in cells]
    return f"{min(found)} to {max(found)} %" if min(found) < max(found) else f"{min(found)} %"


def answer(means: Means) -> str:
    """The bullets."""
    frozen, untaught, plain, adapting, unexplored = (
        _changes(means, REGIMES, *two)
        for two in (
            (ITSELF, FROZEN), (UNTAUGHT, ITSELF), (PLAIN, ITSELF), ("metarl, adapting", ITSELF), (UNEXPLORED, ITSELF)
        )
    )  # fmt: skip
    true = {cell: means.above(cell, ITSELF, CEILING) for cell in means.cells}
    lower = sum(change.high < 0 for change in true.values())
    other = [change for cell, change in true.items() if cell != ITP]
    elsewhere = _changes(means, (WIDE, ITP, PHILLY), ITSELF, FROZEN)
    return f"""\
* **The paper's claim holds.** Mean JCT is {_below(means, BASE, ITSELF)} below the best of LB, Tetris and LIF in the
  base cell, and {_below(means, CHANGED, ITSELF)} after a change. Most of this is packing: `packed` is
  {_below(means, REGIMES, PACKED)} below the same.
* **Measuring while it runs gains most.** Relative to its frozen self: {spread(frozen)} in the base cell and after
  changes. With 1–16 GPUs and on both logs nothing is significant ({spread(elsewhere)}).
* **It matches a linear scheduler with the true interference.** Relative to that `scorer` it is {spread(other)} outside
  of ITP, and significantly lower in {lower} of {len(true)} cells. On ITP's held-out jobs it is {true[ITP]} %.
* **Training beforehand helps; meta-learning shows on ITP only.** Without training mean JCT is {spread(untaught)}
  (significant in {how_many_sure(untaught)} cells), but {means.above(ITP, UNTAUGHT, ITSELF)} % on ITP. With plain
  training it is {spread(plain)} ({how_many_sure(plain)}), and {means.above(ITP, PLAIN, ITSELF)} % on ITP.
* **Adapting and exploring gain nothing significant.** With adaptation: {spread(adapting)}
  ({how_many_sure(adapting)}). Without exploration: {spread(unexplored)} ({how_many_sure(unexplored)}).
* **Recommendation.** Run `metarl` if jobs slow each other on nodes, name their models, and have known durations,
  and if speeds can be measured. Relative to `packed` it is
  {means.above(PHILLY, ITSELF, PACKED)} % on Philly and {means.above(ITP, ITSELF, PACKED)} % on ITP.
"""


def drift(means: Means) -> str:
    """The log in half months."""
    *early, last = study("metarl-drift").filter(who=ITSELF).rows(named=True)
    *frozen, _ = study("metarl-drift").filter(who=FROZEN)["to true model"].to_list()
    changes = [row["to true model"] for row in early]
    change = Difference(*(last[f"to true model{end}"] for end in ("", ", low", ", high")))
    return (
        f"**ITP's whole log**, by half months, relative to the true model: {span(changes)} in the first {len(early)} "
        f"(frozen {span(frozen)}), {change} % in the last. Three workloads; "
        "[data](data/metarl-drift.csv).\n"
    )


def table(means: Means) -> str:
    """Percent below the best of three, and `metarl` to two others."""
    rows = [
        ["base" if cell in BASE else cell.name,
         *(f"{means.below(cell, who).percent:.0f}" for who in COLUMNS),
         *(str(means.above(cell, ITSELF, other)) for other in (FROZEN, CEILING))]
        for cell in SHOWN
    ]  # fmt: skip
    names = (BOUND, PACKED, "true model", "frozen", ITSELF, "to frozen", "to true model")
    return markdown(("cell", *names), rows)


def others(means: Means) -> str:
    """Cells that the table leaves out."""
    noise, wrong = (
        " and ".join(f"{signed(change.percent)} %" for change in _changes(means, cells, ITSELF, CEILING))
        for cells in (
            [Cell(sigma=sigma) for sigma in (0.1, 0.05)],
            [Cell(estimate=f"lognormal:{sigma}") for sigma in ("0.5", "1")],
        )
    )
    return (
        f"With weaker pair effects (σ = 0.1 and 0.05), `metarl` is {noise} relative to the true model. With lognormal "
        f"errors of durations (σ = 0.5 and 1), it is {wrong}.\n"
    )


def parts(means: Means) -> str:
    """Variants relative to `metarl`."""
    rows = [[said, *(bold(means.above(cell, who, ITSELF)) for cell in REGIMES)] for who, said in PARTS.items()]
    return markdown(("variant", "base", *(cell.change.removeprefix("an ") for cell in CHANGED)), rows)


def short(means: Means) -> str:
    """Short traces, relative to the true model."""
    rows = [
        [who.removeprefix("metarl, "), *(bold(means.above(cell, who, CEILING)) for cell in SHORT)] for who in OF_SHORT
    ]
    return markdown(("policy", *(f"{cell.submitted} jobs" for cell in SHORT)), rows)


def model(means: Means) -> str:
    """How wrong its model is, and what exploring costs."""
    rows = {(row["cell"], row["checkpoint"]): row for row in study("metarl-model").rows(named=True)}
    own, nothing = (rows[BASE[0].name, checkpoint] for checkpoint in (OWN, OTHER))
    explored, rest = ([f"{own[f'{who}, {q}']:.2f}" for q in ("p50", "p99")] for who in ("explored", "others"))
    first = "error at first sight, %"
    return f"""\
* **Error** of forecast slow-downs where these jobs have not shared a server before: {own[first]:.1f} %, and
  {nothing[first]:.1f} % with nothing meta-learnt. Later: {own["error later, %"]:.1f} %.
* **Calibration**: two deviations of the five laws should hold 95 % of these. They hold {own["within, %"]:.0f} %.
* **Exploring** takes {own["explored GPU time, %"]:.1f} % of the GPU time. Explored jobs run {explored[0]} times
  (median) and {explored[1]} times (p99) as long as alone; others {rest[0]} and {rest[1]} times.
"""


def claims(means: Means) -> str:
    """The paper's and ours."""
    published = [cell for cell in SHORT if 60 <= cell.submitted <= 200]
    true = [means.above(cell, ITSELF, CEILING) for cell in means.cells]
    explored = _changes(means, REGIMES, UNEXPLORED, ITSELF)
    return markdown(
        ("claim", "measured", "met"),
        [
            ["mean JCT 12–16 % below the baselines",
             f"{_below(means, BASE, ITSELF)} in the base cell (bound {_below(means, BASE, BOUND)}); "
             f"{_below(means, published, ITSELF)} in 60–200 jobs (bound {_below(means, published, BOUND)})",
             "yes in long traces"],
            ["16–22 % below after a change",
             f"{_below(means, CHANGED, ITSELF)} after five changes (bound {_below(means, CHANGED, BOUND)})", "yes"],
            ["meta-learning is sample-efficient",
             f"in the first 60 jobs, untrained: {means.above(Cell(submitted=60), UNTAUGHT, ITSELF)} %, plain training: "
             f"{means.above(Cell(submitted=60), PLAIN, ITSELF)} %", "training is; meta-learning on ITP only"],
            ["the policy adapts quickly",
             "the corrected model does at once; gradient steps add nothing significant", "in part"],
            ["directed exploration", f"none: {spread(explored)}", "not shown"],
            ["ours: not worse than `scorer` with the true model",
             f"significantly worse in {sum(change.low > 0 for change in true)} of {len(true)} cells", "no"],
        ],
        words=3,
    )  # fmt: skip


MADE: Final[dict[str, Callable[[Means], str]]] = {
    "answer": answer, "drift": drift, "figures": table, "others": others, "parts": parts, "short": short,
    "model": model, "claims": claims,
}  # fmt: skip
BLOCKS: Final = {name: of_page(make, Cell, BASELINES) for name, make in MADE.items()}
