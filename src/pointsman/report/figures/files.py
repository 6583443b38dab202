"""Figures as files for papers: PDF, SVG or PNG, of the width of a column, with text of the size of a caption."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from pointsman.errors import UsageError
from pointsman.report.figures.catalogue import KINDS, Kind
from pointsman.report.figures.drawing import failure
from pointsman.report.figures.style import SETTINGS, Painting, check_matplotlib, without_glyph_warnings
from pointsman.report.metrics.groups import Group

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = ("pdf", "svg", "png")
INCHES: Final = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
SMALL: Final[dict[str, Any]] = {"font.size": 7, "axes.titlesize": 7, "legend.fontsize": 6, "axes.labelsize": 7}
"""Text in print (points)."""
LETTERS_PER_IN: Final = 20
"""Letters in an inch of text of this size."""
DPI: Final = 300
UNDATED: Final = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""So that the same runs give the same bytes."""


def parse_formats(text: str) -> list[str]:
    """``pdf,svg,png``.

    Raises:
        UsageError: another format.
    """
    found = [part.strip().lower() for part in text.split(",") if part.strip()]
    if not found or set(found) - set(FORMATS):
        raise UsageError(f"--format {text!r:.60}: figures are {', '.join(FORMATS)}")
    return list(dict.fromkeys(found))


def parse_width_in(text: str) -> float:
    """Inches of ``3.3in``, ``8.4cm``, ``84mm`` or ``240pt``.

    Raises:
        UsageError: no such width, or none between 1 and 30 inches.
    """
    found = re.fullmatch(r"(\d{1,4}(?:\.\d{0,4})?)\s*(in|cm|mm|pt)", text.strip())
    width_in = float(found[1]) * INCHES[found[2]] if found else 0.0
    if not 1 <= width_in <= 30:
        raise UsageError(f"--width {text!r:.40}: write it like 3.3in or 84mm, from 1 to 30 inches")
    return width_in


def save_figures(directory: Path, groups: list[Group], formats: Sequence[str], width_in: float) -> list[Path]:
    """A file for each figure of these runs and each format; the first group is the baseline.

    Where a figure cannot be drawn there is ``NAME.txt``, which says why.

    Raises:
        RunError: matplotlib is not installed.
    """
    check_matplotlib()
    made = ((kind.name, partial(_painting, kind, groups)) for kind in KINDS)
    return [path for name, make in made for path in _save(directory, name, make, formats, width_in)]


def _painting(kind: Kind, groups: list[Group]) -> Painting | None:
    shown = kind.shown(groups)
    if not shown:
        return None
    return Painting(kind.name, kind.title, kind.size(len(shown)), lambda figure: kind.paint(figure, shown))


def save_paintings(
    directory: Path, paintings: Sequence[Painting], formats: Sequence[str], width_in: float
) -> list[Path]:
    """Saves figures that are not of single runs, as `save_figures` does.

    Raises:
        RunError: matplotlib is not installed.
    """
    check_matplotlib()
    made = ((painting.name, partial(replace, painting)) for painting in paintings)
    return [path for name, make in made for path in _save(directory, name, make, formats, width_in)]


def _save(
    directory: Path, name: str, make: Callable[[], Painting | None], formats: Sequence[str], width_in: float
) -> list[Path]:
    """Files of one figure, instead of those that other runs have left there."""
    try:
        painting = make()
        contents = {} if painting is None else _draw_formats(painting, formats, width_in)
    except Exception as error:
        contents = {"txt": (failure(name, error) + "\n").encode()}
    for ending in {*formats, "txt"} - contents.keys():
        (directory / f"{name}.{ending}").unlink(missing_ok=True)
    paths = {directory / f"{name}.{ending}": content for ending, content in contents.items()}
    for path, content in paths.items():
        path.write_bytes(content)
    return list(paths)


def _wrap_labels(figure: "Figure", width_in: float) -> None:
    """Labels were written for a page."""
    for axes in figure.axes:
        most = max(12, int(LETTERS_PER_IN * width_in * axes.get_position().width))
        axes.set_xlabel(fill(axes.get_xlabel(), most))
        for side in ("left", "center"):
            axes.set_title(fill(axes.get_title(side), most), loc=side)


def _draw_formats(painting: Painting, formats: Sequence[str], width_in: float) -> dict[str, bytes]:
    """The content of the file of each format."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    wide, high = painting.size
    height_in = high * (width_in / wide) ** 0.5  # text does not shrink with the width
    settings: Any = SETTINGS | SMALL | {"svg.hashsalt": f"pointsman-{painting.name}", "pdf.fonttype": 42}
    contents = {}
    with matplotlib.rc_context(settings), without_glyph_warnings():
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        FigureCanvasAgg(figure)
        painting.paint(figure)
        _wrap_labels(figure, width_in)
        for format in formats:
            content = io.BytesIO()
            figure.savefig(content, format=format, dpi=DPI, facecolor="white", metadata=UNDATED[format])
            contents[format] = content.getvalue()
    return contents
