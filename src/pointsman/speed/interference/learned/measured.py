"""Measured combinations of jobs on the GPUs of one node: a CSV that ``pointsman profile interference`` reads, too."""

from pathlib import Path
from typing import Final

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.speed.interference.learned.combinations import Combination, Server, combination_of, others_of
from pointsman.speed.interference.learned.observations import Observations, Seen
from pointsman.speed.measured_rows import ABOUT, Columns, Row, read_rows
from pointsman.speed.profiles.catalogue import Catalogue

COLUMNS: Final = Columns(
    required=("gpu_type", "node_gpus", "model", "others", "alone_s", "step_s"),
    optional=("gpus",),
    about=("gpu", "batch", "memory_bytes", *ABOUT),
)
MOST_SLOWDOWN: Final = 1e3
_HOURS: Final = 1.0
"""Each row weighs the same."""


def observe_measured(path: str | Path, catalogue: Catalogue, found: Observations) -> list[bool]:
    """Add the rows of a file of combinations (``docs/formats/nodes.md``). A step that is faster than alone counts as
    not slowed. Returns of each row whether it is unsteady: its rounds differ by more than the default limit.

    Raises:
        InputError: it cannot be read, or a row is wrong; the message has file, line, cause and fix.
    """
    rows = read_rows(path, COLUMNS)
    for row in rows:
        server = Server.of(row.gpu_type(catalogue), row.count("node_gpus"))
        combination = _combination(row, catalogue)
        if combination.gpus + combination.gpus_of_others > server.gpus:
            cause = f"{combination.gpus + combination.gpus_of_others} GPUs are held on a node of {server.gpus}"
            raise row.wrong(cause, "node_gpus is how many GPUs the node has")
        slowdown = row.number("step_s") / row.number("alone_s")
        if slowdown > MOST_SLOWDOWN:
            raise row.wrong(f"a step takes {slowdown:.4g} times as long as alone", f"at most {MOST_SLOWDOWN:g} times")
        found.setdefault((server, combination), Seen()).add(max(1.0, slowdown), _HOURS)
    return [row.is_unsteady for row in rows]


def _combination(row: Row, catalogue: Catalogue) -> Combination:
    gpus = row.count("gpus") if row.has("gpus") else 1
    text = f"{gpus} beside {row.text('others')}" if row.has("others") else str(gpus)
    model = _name(row, row.text("model"), catalogue)
    try:
        read = combination_of(model, text)
    except ValueError as error:
        raise row.wrong(str(error), "write others as 'vgg16*1 + wlm*1'; leave it empty for a job alone") from None
    return read._replace(others=others_of([(_name(row, name, catalogue), count) for name, count in read.others]))


def _name(row: Row, model: str, catalogue: Catalogue) -> str:
    try:
        return catalogue.model_name(model)
    except UsageError:
        fix = f"{did_you_mean(model, catalogue.models)}; --profiles FILE adds one"
        raise row.wrong(f"unknown model {model!r}", fix) from None
