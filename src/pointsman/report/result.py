"""A run with what users of Python ask of it: its summary and its plots."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointsman.engine.run.result import RunData

if TYPE_CHECKING:
    from pointsman.report.plots import Plots
    from pointsman.report.summary import Summary


@dataclass(frozen=True, repr=False)
class Result(RunData):
    """The data of a run, and what a report says of it."""

    def _repr_html_(self) -> str:
        """For notebooks: the table that `pointsman simulate` prints."""
        return self.summary._repr_html_()

    @property
    def summary(self) -> "Summary":
        """Its metrics, as `pointsman.summarise` gives them."""
        from pointsman.report.summary import summarise

        return summarise(self)

    @property
    def plot(self) -> "Plots":
        """Figures of this run, and of `others` beside it: ``result.plot.jct_cdf(ax=ax)``, ``.pending_by_gpus``,
        ``.fairness_cdf``, as in ``pointsman.report.plots``.
        """
        from pointsman.report.plots import Plots

        return Plots(self)
