"""The figure of what was found: agreement and worth over time, and predicted against real starts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pointsman.inputs.messages import counted
from pointsman.live.report.findings import Agreement, Findings, Foretold, Worth
from pointsman.live.report.words import moment
from pointsman.report.figures.distributions import time_ticks
from pointsman.report.figures.drawing import Drawing, attempted
from pointsman.report.figures.style import COLOURS, FAINT, INK, draw
from pointsman.report.units import time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME, TITLE = "observed", "Decisions, their worth and predicted starts"
STEPS_S: Final = (60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0)
"""Lengths of the stretches over which agreement is shown."""
MOST_STEPS: Final = 72
MOST_WIDE: Final = 100
"""Estimates that have room beside each other; more are drawn thinner."""
MOST_POINTS: Final = 1_500
"""Predicted starts that are drawn at most, evenly chosen."""
LEAST_S: Final = 1.0
"""Shorter waits are drawn here."""


def draw_findings(found: Findings, section: str) -> Drawing:
    """One picture of three panels, for a section of a page."""

    def make() -> Drawing:
        caption = f"{found.policy} beside {found.scheduler}; {counted(found.gpus, 'GPU')}, from {moment(found.first_s)}"
        return Drawing(NAME, TITLE, *draw(NAME, lambda figure: _paint(figure, found), (10.0, 5.2), caption))

    return replace(attempted(NAME, TITLE, make), section=section)


def _date(at_s: float) -> float:
    """As the axis has it, on the clock of this machine."""
    from matplotlib.dates import date2num

    return float(date2num(datetime.fromtimestamp(at_s)))


def _paint(figure: "Figure", found: Findings) -> str:
    panels = figure.subplot_mosaic([["agreement", "foretold"], ["worth", "foretold"]], width_ratios=[1.7, 1])
    panels["worth"].sharex(panels["agreement"])
    _paint_agreement(panels["agreement"], found)
    _paint_worth(panels["worth"], found.worths)
    _paint_foretold(panels["foretold"], found.foretold)
    _date_axis(panels["worth"], found)
    panels["agreement"].tick_params(labelbottom=False)
    one = one_in(len(found.foretold))
    drawn = f" One in {one:,} is drawn." if one > 1 else ""
    return (
        "Above: share of the starts that the policy would have made, too. Below: by how much the jobs that were there "
        "would have ended sooner (below 0) or later, with 90 % of the futures: blue where all of them are a gain, "
        f"orange where they are a loss. Right: waits; hollow where a start was out of its range.{drawn}"
    )


# -- agreement --------------------------------------------------------------------------------------------


def step_s(found: Findings) -> float:
    """Over how long agreement is shown as one value."""
    span_s = found.last_s - found.first_s
    return next((s for s in STEPS_S if span_s <= s * MOST_STEPS), STEPS_S[-1])


def steps(found: Findings) -> list[Agreement]:
    """Agreement in each stretch of time, whose number is its name."""
    return found.agreements(lambda one: str(int((one.at_s - found.first_s) // step_s(found))), int)


def _paint_agreement(axes: "Axes", found: Findings) -> None:
    size_s = step_s(found)
    for one in steps(found):
        ends = [_date(found.first_s + (int(one.name) + k) * size_s) for k in (0, 1)]
        axes.fill_between(ends, 0, 100, color=FAINT, alpha=0.35, linewidth=0)
        axes.fill_between(ends, 0, 100 * one.share, color=COLOURS[0], alpha=0.7, linewidth=0)
    axes.set_ylim(0, 100)
    axes.set_ylabel("starts agreed (%)")


# -- worth ------------------------------------------------------------------------------------------------


def _paint_worth(axes: "Axes", worths: Sequence[Worth]) -> None:
    size, unit = time_unit(max((max(abs(one.low_s), abs(one.high_s)) for one in worths), default=1.0))
    axes.axhline(0, color=INK, linewidth=0.9, linestyle="--")
    thin = min(1.0, MOST_WIDE / max(1, len(worths)))
    for colour in (INK, COLOURS[0], COLOURS[1]):
        some = [one for one in worths if _colour(one) == colour]
        dates = [_date(one.at_s) for one in some]
        lows, middles, highs = ([getattr(one, f"{end}_s") / size for one in some] for end in ("low", "change", "high"))
        axes.vlines(dates, lows, highs, color=colour, linewidth=1.2 * thin)
        axes.plot(dates, middles, color=colour, marker="o", linestyle="", markersize=max(1.0, 4 * thin))
    if not worths:
        axes.text(0.5, 0.6, "not worked out yet", transform=axes.transAxes, ha="center")
    axes.set_ylabel(f"change of the mean\ntime to end ({unit})")


def _colour(one: Worth) -> str:
    return COLOURS[0] if one.is_gain else COLOURS[1] if one.is_loss else INK


def _date_axis(axes: "Axes", found: Findings) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axes.set_xlim(_date(found.first_s), _date(max(found.last_s, found.first_s + 1)))


# -- predicted starts -------------------------------------------------------------------------------------


def one_in(foretold: int) -> int:
    """How many predicted starts there are to one that is drawn."""
    return -(-foretold // MOST_POINTS) or 1


def _paint_foretold(axes: "Axes", foretold: Sequence[Foretold]) -> None:
    some = foretold[:: one_in(len(foretold))]
    known = [(one.likely_s, one.real_s, one.is_kept) for one in some if one.likely_s is not None]
    points = [(max(LEAST_S, x), max(LEAST_S, y), kept) for x, y, kept in known if y is not None]
    most = max((max(x, y) for x, y, _ in points), default=60.0) * 1.5
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.plot([LEAST_S, most], [LEAST_S, most], color=INK, linewidth=0.9, linestyle="--")
    for kept, face in ((True, COLOURS[0]), (False, "none")):
        of = [(x, y) for x, y, is_kept in points if is_kept == kept]
        axes.scatter(*zip(*of, strict=True), s=18, facecolor=face, edgecolor=COLOURS[0], linewidth=1) if of else None
    for axis, set_limit in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        set_limit(LEAST_S / 1.3, most)
        time_ticks(axis, most)
        set_limit(LEAST_S / 1.3, most)
    axes.set_xlabel("predicted wait")
    axes.set_ylabel("real wait")
