"""What a search for the smallest cluster found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pointsman.capacity.curve import Curve, Point, Target, notes
from pointsman.capacity.picture import drawing
from pointsman.report.figures.drawing import Drawing
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, count


@dataclass(frozen=True, repr=False)
class Capacity:
    """The smallest cluster under each policy that meets a target."""

    target: Target
    curves: Sequence[Curve]
    """A curve for each policy."""
    nodes: int
    """Nodes of the cluster from which the search began."""
    answer: str
    """The result in a sentence."""

    file = "capacity.csv"

    @property
    def wanted(self) -> str:
        """The target, for the manifest."""
        return self.target.text

    def notes(self) -> list[str]:
        """What may surprise about the curves."""
        return notes(self.curves, self.target.metric)

    def drawing(self) -> Drawing | None:
        """The curves, drawn."""
        return drawing(self.curves, self.target, self.answer)

    def __repr__(self) -> str:
        """``Capacity(pending_p90_s<=1h: tiresias 208 GPUs, fifo-backfill 488 GPUs)``."""
        told = (f"{curve.policy} {f'{curve.answer.gpus} GPUs' if curve.answer else 'none'}" for curve in self.curves)
        return f"Capacity({self.target.text}: {', '.join(told)})"

    def _repr_html_(self) -> str:
        """For notebooks: the table that `pointsman capacity` prints, and the answer."""
        return self.table()._repr_html_()

    def table(self) -> Table:
        """A row for each policy, with the answer as note."""
        (now,) = {point.gpus for curve in self.curves for point in curve.points if point.nodes == self.nodes}
        columns = ("policy", "GPUs", "nodes", self.target.metric, f"with the {count(now)} GPUs of the file")
        return Table("", columns, [self._row(curve) for curve in self.curves], self.answer)

    def _row(self, curve: Curve) -> tuple[str, ...]:
        now = next(point for point in curve.points if point.nodes == self.nodes)
        least = curve.answer
        found = (count(least.gpus), count(least.nodes), self.target.render(least.value)) if least else (NOTHING,) * 3
        return (curve.policy, *found, self.target.render(now.value))

    def records(self) -> list[dict[str, Any]]:
        """A row for each policy and size, as in ``capacity.csv``."""
        return [_record(curve, point) for curve in self.curves for point in curve.points]


def _record(curve: Curve, point: Point) -> dict[str, Any]:
    return {
        "policy": curve.policy,
        "nodes": point.nodes,
        "gpus": point.gpus,
        "value": point.value,
        "is_answer": point == curve.answer,
    }
