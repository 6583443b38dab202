"""Figures of runs on axes of your own (``docs/guides/figures-for-papers.md``): ``jct_cdf(fifo, srtf, ax=ax)``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pointsman.engine.run.result import RunData
from pointsman.report.figures import distributions, over_time
from pointsman.report.metrics.groups import Group, group_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Only:
    """What a figure is to code that draws on one axes."""

    def __init__(self, axes: "Axes") -> None:
        self._axes = axes

    def subplots(self) -> "Axes":
        return self._axes

    def get_figwidth(self) -> float:
        figure = self._axes.get_figure(root=True)
        return figure.get_figwidth() if figure else 0.0

    def legend(self, handles: Any, labels: Any, **_: Any) -> None:
        self._axes.legend(handles, labels)


def jct_cdf(*results: RunData, ax: "Axes | None" = None) -> "Axes":
    """The distribution of job completion times, a line a policy; on `ax`, or on axes of a new figure."""
    return _on(distributions.jct_cdf, results, ax)


def pending_by_gpus(*results: RunData, ax: "Axes | None" = None) -> "Axes":
    """Time pending by GPUs requested, as boxes."""
    return _on(distributions.waits_by_gpus, results, ax)


def fairness_cdf(*results: RunData, ax: "Axes | None" = None) -> "Axes":
    """The distribution of finish-time fairness."""
    return _on(over_time.rho_cdf, results, ax)


@dataclass(frozen=True)
class Plots:
    """The figures of one result: ``result.plot.jct_cdf(ax=ax)``."""

    result: RunData

    def jct_cdf(self, *others: RunData, ax: "Axes | None" = None) -> "Axes":
        """The distribution of job completion times, with a line for each of `others`."""
        return jct_cdf(self.result, *others, ax=ax)

    def pending_by_gpus(self, *others: RunData, ax: "Axes | None" = None) -> "Axes":
        """Time pending by GPUs requested, beside that of `others`."""
        return pending_by_gpus(self.result, *others, ax=ax)

    def fairness_cdf(self, *others: RunData, ax: "Axes | None" = None) -> "Axes":
        """The distribution of finish-time fairness, with a line for each of `others`."""
        return fairness_cdf(self.result, *others, ax=ax)


def _on(paint: Callable[[Any, list[Group]], str], results: tuple[RunData, ...], ax: "Axes | None") -> "Axes":
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(layout="constrained")
    paint(_Only(ax), group_runs(list(results)))
    return ax
