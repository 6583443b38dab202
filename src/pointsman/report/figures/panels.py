"""Figures 5 (second part) and 6: one small panel a policy, tenants' shares and nodes' occupancy over time."""

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.report.figures import grid
from pointsman.report.figures.style import COLOURS, HATCHES, INK, columns_of, shown_name
from pointsman.report.metrics.groups import Group, Run, shown_span_s
from pointsman.report.metrics.holdings import mean_held
from pointsman.report.units import number_of_jobs, percent, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TENANTS = 5
"""Tenants named in a figure; the others are one."""

BINS, ROWS = 160, 64
"""Most bins of time and rows of nodes of a heat map."""

NO_LOG = "no plan log was kept"


def tenant_shares(figure: "Figure", groups: list[Group]) -> str:
    """Figure 5, second part: share of the GPUs that each tenant holds, stacked."""
    panels = grid.panels(figure, groups)
    span_s = shown_span_s(groups)
    size = grid.label_bottoms(panels, span_s)
    by, named, names = tenants(groups[0].first)
    edges_s = np.linspace(0, span_s or 1.0, (80 if len(groups) == 1 else 48) + 1)
    drawn: list[Any] = []
    for i, (axes, group) in enumerate(zip(panels, groups, strict=True)):
        shares = _shares(group.first, by, named, len(names), edges_s)
        if i % grid.columns(len(panels)) == 0:
            axes.set_ylabel("GPUs held (%)")
        axes.set_ylim(0, 100)
        if shares is None:
            axes.text(0.5, 0.5, NO_LOG, transform=axes.transAxes, ha="center")
        else:
            drawn = _stack(axes, edges_s / size, shares)
    if drawn:
        shown = [shown_name(name) for name in names]
        ncols = columns_of(shown, figure.get_figwidth(), most=len(shown))
        figure.legend(drawn, shown, loc="outside upper left", ncols=ncols, title=f"by {by}", alignment="left")
    return _tenant_sentence(groups, by)


def any_tenants(groups: list[Group]) -> bool:
    """Whether the log names queues or users."""
    by, *_ = tenants(groups[0].first)
    return bool(groups[0].first.summary[f"by_{by}"])


def tenants(run: Run) -> tuple[str, list[str], list[str]]:
    """Whether queues or users are the tenants, the largest by GPU-hours, and the same with ``others`` if there are."""
    by = "queue" if run.result.jobs["queue"].drop_nulls().n_unique() > 1 else "user"
    named = [str(row[by]) for row in run.summary[f"by_{by}"][:TENANTS]]
    return by, named, [*named, "others"] if run.result.jobs[by].n_unique() > len(named) else named


def _shares(
    run: Run, by: str, named: list[str], tenants: int, edges_s: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    held = run.held
    if held is None:
        return None
    number = pl.col(by).replace_strict(named, range(len(named)), default=tenants - 1, return_dtype=pl.Int64)
    jobs = run.result.jobs.select("row", tenant=number.fill_null(tenants - 1)).sort("row")
    of = jobs["tenant"].to_numpy()[np.searchsorted(jobs["row"].to_numpy(), held["row"].to_numpy())]
    return 100 * mean_held(held, of, tenants, edges_s) / run.gpus


def _stack(axes: "Axes", edges: NDArray[np.float64], shares: NDArray[np.float64]) -> list[Any]:
    tops = np.cumsum(shares, axis=0)
    bases = np.vstack((np.zeros(shares.shape[1]), tops[:-1]))
    return [
        axes.stairs(
            tops[k], edges, baseline=bases[k], fill=True, linewidth=0.4, edgecolor=INK,
            facecolor=COLOURS[k if k < TENANTS else -1], alpha=0.75, hatch=HATCHES[k],
        )
        for k in range(len(shares))
    ]  # fmt: skip


def _tenant_sentence(groups: list[Group], by: str) -> str:
    """The share of the largest tenant under each policy; of one policy, those of the three largest."""
    shares = {group.label: _gpu_hours(group.first, by) for group in groups}
    first = shares[groups[0].label]
    most = sorted(first, key=first.__getitem__, reverse=True)[:3]
    if len(groups) == 1:
        said = ", ".join(f"{name} {percent(first[name])}" for name in most)
        return f"Of {len(first):,} {by}s these have most GPU-hours (of counted jobs): {said}."
    of_largest = spread({label: of.get(most[0], 0.0) for label, of in shares.items()}, percent)
    return f"Of {len(first):,} {by}s {most[0]} has most GPU-hours (of counted jobs): {of_largest}."


def _gpu_hours(run: Run, by: str) -> dict[str, float]:
    """Each tenant's share."""
    rows = run.summary[f"by_{by}"]
    total = sum(row["gpu_hours"] for row in rows) or 1.0
    return {str(row[by]): row["gpu_hours"] / total for row in rows}


def occupancy(figure: "Figure", groups: list[Group]) -> str:
    """Figure 6: how full each node is, over time."""
    panels = grid.panels(figure, groups)
    span_s = shown_span_s(groups)
    size = grid.label_bottoms(panels, span_s)
    edges_s = np.linspace(0, span_s or 1.0, BINS + 1)
    image, rows = None, -(-len(groups) // grid.columns(len(groups)))
    for i, (axes, group) in enumerate(zip(panels, groups, strict=True)):
        axes.grid(False)
        if i % grid.columns(len(panels)) == 0:
            axes.set_ylabel("node")
        filled = _fill_cells(group.first, edges_s)
        if filled is None:
            axes.text(0.5, 0.5, NO_LOG, transform=axes.transAxes, ha="center")
            continue
        nodes = int(group.first.result.info["nodes"])
        image = axes.imshow(
            100 * filled, cmap="cividis", vmin=0, vmax=100, aspect="auto", interpolation="nearest", origin="lower",
            extent=(0.0, float(edges_s[-1]) / size, -0.5, nodes - 0.5),
        )  # fmt: skip
        axes.locator_params(axis="y", integer=True)
    if image is None:
        return "The runs were made without a plan log, so the use of the nodes over time is unknown."
    figure.colorbar(image, ax=panels, label="GPUs of the node in use (%)", pad=0.01, aspect=16 * rows, fraction=0.05)
    return _occupancy_sentence(groups[0]) + _left_out(groups)


def node_rows(nodes: int) -> NDArray[np.int64]:
    """Row of the heat map of each node: nodes in index order, evenly on at most `ROWS` rows."""
    return np.arange(nodes) * min(nodes, ROWS) // nodes


def _fill_cells(run: Run, edges_s: NDArray[np.float64]) -> NDArray[np.float64] | None:
    held = run.held
    if held is None or held["node"].null_count() == held.height > 0:
        return None
    held = held.filter(pl.col("node").is_not_null())
    row_of = node_rows(int(run.result.info["nodes"]))
    rows = int(row_of[-1]) + 1
    capacity = np.bincount(row_of, np.asarray(run.result.info["node_gpus"], dtype=np.float64), rows)
    return mean_held(held, row_of[held["node"].to_numpy()], rows, edges_s) / capacity[:, None]


def _occupancy_sentence(group: Group) -> str:
    nodes = int(group.first.result.info["nodes"])
    row = _nodes_of_a_row(nodes)
    return (
        f"Where jobs ran, not how well: each row is {row}, and bright is busy. Bands that stay dark are nodes that the "
        "placement uses last."
    )


def _left_out(groups: list[Group]) -> str:
    """What the log's own schedule does not say of places."""
    logged = [group.first.result.jobs.filter(pl.col("start_s").is_not_null()) for group in groups if group.is_logged]
    if not logged:
        return ""
    unknown = sum(jobs["locality"].null_count() for jobs in logged)
    without = f", without {number_of_jobs(unknown)} on unknown nodes" if unknown else ""
    return f" In the log's own schedule a job has the same number of GPUs on each of its nodes{without}."


def _nodes_of_a_row(nodes: int) -> str:
    if nodes <= ROWS:
        return "a node"
    least, most = nodes // ROWS, -(-nodes // ROWS)
    return f"{least} neighbouring nodes" if least == most else f"{least} or {most} neighbouring nodes"
