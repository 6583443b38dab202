"""What was found, as one HTML file that needs nothing else."""

from typing import Final

from pointsman.inputs.messages import counted
from pointsman.live.report.figure import draw_findings
from pointsman.live.report.findings import Findings
from pointsman.live.report.tables import (
    agreement_tables,
    alarms_table,
    cost_table,
    differences_table,
    foretold_table,
    time_tables,
)
from pointsman.live.report.words import differing, lead, limits, moment
from pointsman.report.pages.sections import Section, page_of
from pointsman.report.tables.tables import Table

MOST_DIFFERENCES: Final = 15
MOST_ALARMS: Final = 10


def page(found: Findings, command: str | None = None) -> str:
    """The HTML; `command` is what it was made by."""
    title = f"{found.policy} beside {found.scheduler} on {counted(found.gpus, 'GPU')}"
    return page_of(title, lead(found), _sections(found), [draw_findings(found, "result")], command)


def _sections(found: Findings) -> list[Section]:
    span = f"From {moment(found.first_s)} to {moment(found.last_s)}, on {counted(found.nodes, 'node')}."
    return [
        Section("result", "The result", [span]),
        Section("differences", "What differs", [differing(found)], [differences_table(found, MOST_DIFFERENCES)]),
        Section("agreement", "Agreement", tables=agreement_tables(found)),
        Section("starts", "Predicted starts", tables=[foretold_table(found)]),
        Section("cost", "Cost to the controller", tables=[cost_table(found), *_alarms(found)]),
        Section("limits", "How sure this is", points=limits(found)),
        Section("times", "Agreement by day and hour", tables=time_tables(found), is_folded=True),
    ]


def _alarms(found: Findings) -> list[Table]:
    return [alarms_table(found, MOST_ALARMS)] if found.alarms else []
