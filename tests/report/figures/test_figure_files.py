"""Figures as files for papers, and on axes of one's own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from pointsman.errors import UsageError
from pointsman.report.figures.files import parse_formats, parse_width_in, save_figures, save_paintings
from pointsman.report.figures.style import COLOURS, INK, MARKERS, Painting
from pointsman.report.metrics.groups import group_runs
from pointsman.report.result import Result
from pointsman.workload import generate
from tests.free import simulate


@pytest.fixture(scope="module")
def results() -> list[Result]:
    jobs = generate("philly", jobs=150, cluster_gpus=32, load=1.2, seed=1)
    return [simulate(jobs, "4x8", policy) for policy in ("fifo", "srtf")]


def twice(save: Callable[[Path], list[Path]], tmp_path: Path) -> dict[str, bytes]:
    """The files that are saved, which are the same the second time."""
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        found.append({path.name: path.read_bytes() for path in save(tmp_path / name)})
    assert found[0] == found[1]
    return found[0]


def test_the_same_runs_give_the_same_bytes(results: list[Result], tmp_path: Path) -> None:
    found = twice(lambda place: save_figures(place, group_runs(results), ["svg"], 3.3), tmp_path)
    assert {"1-jct-cdf.svg", "6-occupancy.svg"} <= found.keys()


def test_so_does_a_figure_in_every_format_and_it_is_as_wide_as_it_is_meant_to_be(tmp_path: Path) -> None:
    from matplotlib.image import imread

    def paint(figure: Figure) -> str:
        figure.subplots().plot([1, 3, 2])
        return "It goes up and down."

    painting = Painting("up", "Up and down", (5, 3), paint)
    found = twice(lambda place: save_paintings(place, [painting], ["pdf", "svg", "png"], 3.3), tmp_path)
    assert found.keys() == {"up.pdf", "up.svg", "up.png"}
    assert found["up.pdf"].startswith(b"%PDF")
    assert imread(tmp_path / "one/up.png").shape[1] == round(3.3 * 300)


@pytest.mark.parametrize(
    ("text", "width_in"), [("3.3in", 3.3), ("84 mm", 84 / 25.4), ("8.4cm", 8.4 / 2.54), ("240pt", 240 / 72.27)]
)
def test_widths(text: str, width_in: float) -> None:
    assert parse_width_in(text) == pytest.approx(width_in)


@pytest.mark.parametrize("text", ["3.3", "wide", "0.5in", "400in", "-3in", "1e3in"])
def test_what_is_no_width(text: str) -> None:
    with pytest.raises(UsageError, match=r"write it like 3\.3in"):
        parse_width_in(text)


def test_formats() -> None:
    assert parse_formats("pdf, SVG,pdf") == ["pdf", "svg"]
    for text in ("", "gif", "pdf,gif"):
        with pytest.raises(UsageError, match="figures are pdf, svg, png"):
            parse_formats(text)


def test_ten_policies_look_different() -> None:
    assert len(set(COLOURS)) == len(COLOURS) >= 10 and INK not in COLOURS
    assert len(set(MARKERS)) >= 10


def test_on_axes_of_ones_own(results: list[Result]) -> None:
    from pointsman.report import plots

    for draw in (plots.jct_cdf, plots.pending_by_gpus, plots.fairness_cdf):
        axes = Figure().subplots()
        assert draw(*results, ax=axes) is axes
        assert axes.has_data() or axes.patches


@pytest.mark.parametrize("name", ["jct_cdf", "pending_by_gpus", "fairness_cdf"])
def test_a_result_draws_itself(name: str, results: list[Result]) -> None:
    """Alone, and beside others as the function does."""
    from pointsman.report import plots

    first, *others = results
    alone, beside, same = (Figure().subplots() for _ in range(3))
    assert getattr(first.plot, name)(ax=alone) is alone
    getattr(first.plot, name)(*others, ax=beside)
    getattr(plots, name)(*results, ax=same)
    drawn = [[line.get_xydata().tolist() for line in axes.lines] for axes in (alone, beside, same)]
    assert drawn[1] == drawn[2] and drawn[0] != drawn[1]


@pytest.mark.parametrize("names", [4, 5, 9])
def test_the_legend_of_a_narrow_figure_is_not_cut(names: int) -> None:
    """Measured as it is drawn."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pointsman.report.figures.files import SMALL
    from pointsman.report.figures.style import SETTINGS, legend_above, line

    labels = [
        "as-logged",
        "multifactor",
        "fifo-backfill",
        "dally-whole-nodes",
        "gittins",
        "srtf",
        "las",
        "easy",
        "fifo",
    ]
    with matplotlib.rc_context(SETTINGS | SMALL):  # ty: ignore[invalid-argument-type]
        figure = Figure(figsize=(3.3, 2.4), layout="constrained")
        canvas, axes = FigureCanvasAgg(figure), figure.subplots()
        for k, label in enumerate(labels[:names]):
            axes.plot([0, 1], [0, 1], label=label, **line(k))
        legend_above(figure, *axes.get_legend_handles_labels())
        canvas.draw()
        box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
