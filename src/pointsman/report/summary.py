"""What `summarise` says of one run (``docs/background/metrics.md`` defines each metric)."""

from typing import Any

from pointsman.engine.run.result import RunData
from pointsman.report.metrics.counted import submit_window
from pointsman.report.metrics.measured import Measured
from pointsman.report.metrics.summary import metrics_of
from pointsman.report.tables.tables import summary_table


class Summary(dict[str, Any]):
    """Figures by name. Only its text is short: what it holds of users, queues and the like is left out there."""

    def __repr__(self) -> str:
        """Its single metrics."""
        said = ", ".join(f"{name}={value!r}" for name, value in self.items() if not isinstance(value, dict | list))
        return f"Summary({said}, …)"

    def _repr_html_(self) -> str:
        """For notebooks: the table that `pointsman simulate` prints."""
        return summary_table(self)._repr_html_()


def summarise(result: RunData, *, window: tuple[float, float] | None = None) -> Summary:
    """Every metric of a run, ready for JSON: times in seconds, ratios 0-1, None where nothing can be said.

    Args:
        result: the run.
        window: count the jobs submitted in [from, to], in seconds since the first submit; all of them by default.

    Raises:
        UsageError: no job was submitted in the window.
    """
    return Summary(metrics_of(Measured(result, submit_window(result, window))))
