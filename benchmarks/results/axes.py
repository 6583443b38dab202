"""What the axes of the pages' pictures have in common."""

from collections.abc import Sequence

from matplotlib.axes import Axes


def open_grid(axes: Axes) -> None:
    """A faint grid, and no lines at the top and on the right."""
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def above_bound(axes: Axes, names: Sequence[str]) -> None:
    """Rows of these names from the top, along percent of mean completion time above the lower bound."""
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("mean completion time above the lower bound, % (logarithmic; left is better)")
    open_grid(axes)
