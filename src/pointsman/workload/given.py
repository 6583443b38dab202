"""What is given in Python where a workload is needed: a `Workload`, a file or a table."""

from pathlib import Path

from pointsman.errors import UsageError
from pointsman.inputs.messages import described
from pointsman.workload.frames import Table, is_table
from pointsman.workload.readers.read import read_workload
from pointsman.workload.table import Workload

GivenWorkload = Workload | str | Path | Table


def workload_of(given: GivenWorkload) -> Workload:
    """The workload itself, that of a file by `read_workload`, or that of a table by `Workload.of`.

    Raises:
        InputError: the file or the table is wrong. UsageError: it is none of the three.
    """
    if isinstance(given, Workload):
        return given
    if isinstance(given, str | Path):
        return read_workload(given)
    if is_table(given):
        return Workload.of(given)
    raise UsageError(
        f"the workload is {described(given)}: give a file, a Workload or a DataFrame; workload, cluster and policy are "
        "given in this order"
    )
