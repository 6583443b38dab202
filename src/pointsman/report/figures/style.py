"""One look for every figure: told apart by colour, by dash and by marker, so also in grey."""

import io
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pointsman.errors import RunError
from pointsman.report.figures.font_cache import font_cache
from pointsman.report.units import time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#1c2128", "#d3d8df"
"""Text and lines, grid."""

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#8a8f98", "#999933", "#44aa99",
)  # fmt: skip
"""Okabe and Ito's palette less its yellow, which white paper swallows, and its black, which is the ink's; then four of
Tol's, so that ten policies have ten colours.
"""

THEMED = {INK: "ink", FAINT: "faint", COLOURS[0]: "mark"}
"""Colours that a page replaces by variables of its own, which differ by day and night."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "<", "h")
HATCHES = ("", "//", "\\\\", "--", "||", "xx", "++")
"""7 dashes, 11 markers and 7 hatches to 10 colours: cycles without a common factor do not repeat together."""

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.image_inline": True,
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.labelcolor": INK,
    "legend.handlelength": 2.8,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


LONGEST_NAME = 24
"""Characters of a name from a log."""


def line(index: int, *, width: float = 1.6) -> dict[str, Any]:
    """Colour, dash and marker of the index-th policy."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linewidth": width,
        "markersize": 2.8 * width,
        "markevery": (0.06 + 0.017 * (index % 8), 0.17),
    }


def bar(index: int) -> dict[str, Any]:
    """Colour and hatch of the index-th policy."""
    return {
        "facecolor": COLOURS[index % len(COLOURS)] + "59",
        "edgecolor": COLOURS[index % len(COLOURS)],
        "hatch": HATCHES[index % len(HATCHES)],
        "linewidth": 1.0,
    }


def draw_line(axes: "Axes", x: ArrayLike, y: ArrayLike, **look: Any) -> None:
    """A line through the points that are known; a series that is empty throughout draws nothing."""
    if np.isfinite(np.asarray(y, dtype=np.float64)).any():
        axes.plot(x, y, **look)


def time_axis(axes: "Axes", span_s: float) -> float:
    """Labels the time axis in a unit that suits; returns the seconds in it."""
    size, unit = time_unit(span_s)
    axes.set_xlabel(f"time since the first submit ({unit})")
    axes.set_xlim(0, span_s / size if span_s > 0 else 1)
    return size


def legend_above(figure: "Figure", handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend in rows above the axes; none for one policy."""
    if len(labels) > 1:
        figure.legend(handles, labels, loc="outside upper left", ncols=columns_of(labels, figure.get_figwidth()))


def legend_of_lines(figure: "Figure", every: Sequence["Axes"], labels: Sequence[str]) -> None:
    """A legend of the policies that have a line on any of the axes, in the order of `labels`."""
    lines = {str(line.get_label()): line for axes in every for line in axes.lines}
    known = [label for label in labels if label in lines]
    legend_above(figure, [lines[label] for label in known], known)


def shown_name(text: str) -> str:
    """A name from a log as a figure shows it: of a bearable length, without characters that no SVG may hold."""
    plain = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: LONGEST_NAME - 1]}…"


def columns_of(labels: Sequence[str], width_in: float, most: int = 4) -> int:
    """As many columns, of at most `most`, as a legend has room for: an entry has 6 em beside its letters of 0.55 em."""
    import matplotlib
    from matplotlib.font_manager import FontProperties

    em_in = FontProperties(size=matplotlib.rcParams["legend.fontsize"]).get_size_in_points() / 72
    for columns in range(min(len(labels), most), 1, -1):
        rows, fuller = divmod(len(labels), columns)  # the first columns have a row more
        ends = [rows * k + min(k, fuller) for k in range(columns + 1)]
        widest = [max(map(len, labels[begin:end])) for begin, end in pairwise(ends)]
        if sum(6 * em_in + 0.55 * em_in * letters for letters in widest) <= width_in:
            return columns
    return 1


@dataclass(frozen=True)
class Painting:
    """A figure before it is drawn."""

    name: str
    title: str
    size: tuple[float, float]
    """On a page, in inches."""
    paint: Callable[["Figure"], str]
    """Fills a figure, and returns the sentence that says what it shows."""


def check_matplotlib() -> None:
    """Imports what draws.

    Raises:
        RunError: matplotlib is not installed, or cannot be loaded.
    """
    try:
        with font_cache():
            import matplotlib.backends.backend_svg
            import matplotlib.figure  # noqa: F401
    except ImportError:
        raise RunError("figures need matplotlib; install it with: pip install matplotlib") from None


@contextmanager
def without_glyph_warnings() -> Generator[None]:
    """Names in scripts that matplotlib's own font lacks are drawn by the reader's fonts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)
        yield


def draw(name: str, paint: Callable[["Figure"], str], size: tuple[float, float], caption: str) -> tuple[str, str]:
    """The SVG of one figure, its caption under it, and the sentence that `paint` found to say of it.

    Raises:
        RunError: matplotlib is not installed.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = SETTINGS | {"svg.hashsalt": f"pointsman-{name}"}
    with matplotlib.rc_context(settings), without_glyph_warnings():
        figure = Figure(figsize=size, layout="constrained")
        sentence = paint(figure)
        figure.supxlabel(caption, fontsize=8, x=0.01, ha="left")
        text = io.StringIO()
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None, "Creator": None})
    return text.getvalue(), sentence
