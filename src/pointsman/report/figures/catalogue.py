"""Which figures there are, by the numbers of the field's usual ones."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pointsman.inputs.messages import counted
from pointsman.report.figures import bars, distributions, fragments, over_time, panels
from pointsman.report.figures.drawing import Drawing, attempted
from pointsman.report.figures.grid import panel_size
from pointsman.report.figures.style import draw
from pointsman.report.metrics.draws import drawn_with
from pointsman.report.metrics.groups import Group, baseline_of, shown_span_s, with_known_places
from pointsman.report.metrics.holdings import horizon_s
from pointsman.report.units import digits, duration, number_of_jobs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Kind:
    """A figure that can be drawn of any runs."""

    name: str
    title: str
    paint: Callable[["Figure", list[Group]], str]
    size: Callable[[int], tuple[float, float]]
    has_something: Callable[[list[Group]], bool] = lambda groups: True
    """Whether there is anything to show; an empty figure is left out."""
    over_time: bool = False
    """It has a time axis and shows the lowest seed of each policy, not all of them."""
    of: Callable[[list[Group]], list[Group]] = lambda groups: groups
    """The groups that it can show."""

    def shown(self, groups: list[Group]) -> list[Group]:
        """The groups that it shows; none: there is nothing to show."""
        known = self.of(groups)
        return known if known and self.has_something(known) else []


def of_policies(groups: list[Group]) -> list[Group]:
    """Without the log's own schedule."""
    return [group for group in groups if not group.is_logged]


def _bar_size(groups: int) -> tuple[float, float]:
    return 10.0, 1.2 + 0.42 * max(groups, 3)


def _panels_of(height: float) -> Callable[[int], tuple[float, float]]:
    return lambda groups: panel_size(groups, height)


def _fragmentation_size(groups: int) -> tuple[float, float]:
    return (10.0, 4.8) if groups == 1 else panel_size(groups, 1.7)


KINDS = (
    Kind("1-jct-cdf", "Job completion time", distributions.jct_cdf, lambda _: (10.0, 4.2)),
    Kind("2-jct-bars", "Mean and tail of the completion time", bars.jct_bars, _bar_size),
    Kind("3-wait-by-gpus", "Queueing delay by GPU count", distributions.waits_by_gpus, lambda _: (10.0, 4.6)),
    Kind("4-utilisation", "Utilisation and queue", over_time.utilisation, lambda _: (10.0, 4.8), over_time=True),
    Kind("5a-fairness", "Finish-time fairness", over_time.rho_cdf, lambda _: (10.0, 4.0)),
    Kind("5b-tenants", "Shares of the tenants", panels.tenant_shares, _panels_of(2.2), panels.any_tenants, True),
    Kind(
        "6-occupancy", "GPU occupancy by node", panels.occupancy, _panels_of(2.3), over_time=True, of=with_known_places
    ),
    Kind(
        "7-fragmentation", "Fragmentation", fragments.fragmentation, _fragmentation_size, over_time=True, of=of_policies
    ),
    Kind("8-preemptions", "Preemptions and lost work", bars.preemptions, _bar_size, bars.any_preempted),
)


def draw_all(groups: list[Group]) -> list[Drawing]:
    """Every figure of the runs that shows something, policies overlaid; the first group is the baseline.

    One that cannot be drawn is a sentence in its place.
    """
    drawn = (attempted(kind.name, kind.title, partial(_drawing, kind, groups)) for kind in KINDS)
    return [drawing for drawing in drawn if drawing is not None]


def _drawing(kind: Kind, groups: list[Group]) -> Drawing | None:
    shown = kind.shown(groups)
    if not shown:
        return None
    caption = runs_caption(groups)
    svg, sentence = draw(kind.name, lambda figure: kind.paint(figure, shown), kind.size(len(shown)), caption)
    return Drawing(kind.name, kind.title, svg, sentence + (_describe_span(shown) if kind.over_time else ""))


def _describe_span(groups: list[Group]) -> str:
    """What a figure over time leaves out."""
    span_s = shown_span_s(groups)
    last_end_s = max(horizon_s(group.first.result) for group in groups)
    first = groups[0].first
    drawn = f"Workload {first.workload_seed}, seed" if groups[0].workload_seeds else "Seed"
    seed = f" {drawn} {first.seed} is shown." if len(groups[0].runs) > 1 else ""
    return seed + (f" The last job ends at {duration(last_end_s)}, beyond the axis." if last_end_s > span_s else "")


def runs_caption(groups: list[Group]) -> str:
    """What a reader must know of every figure: n, seeds, workload, cluster, load, window."""
    base = baseline_of(groups)
    run = base.first
    summary, info = run.summary, run.result.info
    load = "" if summary["load"] is None else f", load {digits(summary['load'])}"
    drawn = drawn_with([run for group in groups for run in group.runs])
    return (
        f"n = {number_of_jobs(base.counted.height)} counted, {drawn}; "
        f"{workload_name(run.result.info)} on {info['cluster']}, "
        f"{counted(run.gpus, 'GPU')}{load}; submitted {duration(run.window.from_s)} to {duration(run.window.to_s)}"
    )


def workload_name(info: dict) -> str:
    """The last part of the workload's source, and which of its jobs."""
    workload = info.get("workload") or {}
    source = str(workload.get("source") or "a workload without a name")
    return source.rstrip("/").rsplit("/", 1)[-1] + (f" ({only})" if (only := workload.get("only")) else "")
