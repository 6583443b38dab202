"""The fields of Slurm's accounting that are read, what their cells look like, and which hold free text."""

import re
from typing import Final

COMMAND: Final = (
    "sacct -aXPD -S START --format=JobID,JobIDRaw,Cluster,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,"
    "ElapsedRaw,TimelimitRaw,NNodes,AllocTRES,ReqTRES,NodeList"
)
"""What prints all that is read."""

ASKED: Final = (
    "JobIDRaw", "JobID", "Cluster", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start",
    "End", "ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit", "NNodes", "AllocTRES", "AllocGRES", "ReqTRES",
    "ReqGRES", "TresPerNode", "GpusPerNode", "NodeList", "Restarts",
)  # fmt: skip
"""Fields that the reader asks for, where they are."""

USED_TO_TELL: Final = ("JobName",)
"""Others by which it tells jobs from each other, where they are."""

FREE: Final = (
    "JobName", "SubmitLine", "WorkDir", "Comment", "AdminComment", "SystemComment", "Extra", "Constraints", "Licenses",
    "Container", "StdIn", "StdOut", "StdErr", "WCKey", "Reason", "Command", "Prefer",
)  # fmt: skip
"""Fields with text of users' own, in which there can be delimiters and line breaks."""

TELLING: Final = (
    "State", "Submit", "Start", "End", "Elapsed", "ElapsedRaw", "User", "Account", "Partition", "AllocTRES", "ReqTRES",
    "AllocGRES", "ReqGRES", "NNodes", "NodeList", "Timelimit", "TimelimitRaw",
)  # fmt: skip
"""Fields of which two, beside an id, make a header."""

_NAMES: Final = {name.casefold(): name for name in (*ASKED, *FREE, *TELLING)} | {
    "job_id": "JobID", "jobid_raw": "JobIDRaw", "gpus-per-node": "GpusPerNode", "gpus_per_node": "GpusPerNode",
    "reqgpuspernode": "GpusPerNode", "allocnodes": "AllocNodes",
}  # fmt: skip

_NO_VALUE: Final = r"|Unknown|None|N/A|INVALID|NONE"
_DATE: Final = re.compile(
    rf"\d{{4}}-\d\d-\d\d[T ][\d:.]+\S*|\d{{9,13}}|\d+[/.]\d+[/.]\d+\s.*\d|\w+ [\w ]*\d+:\d+{_NO_VALUE}"
)
_NUMBER: Final = re.compile(r"-?\d*(?:\.\d+)?[KMGT]?|[A-Z]\w+")
_SPAN: Final = re.compile(r"(?:\d+-)?[\d:.]*|[A-Z]\w+")
_TRES: Final = re.compile(r"(?:[\w/:.+-]+=[^,|=]*(?:,[\w/:.+-]+=[^,|=]*)*)?")
_GRES: Final = re.compile(
    r"(?:[A-Za-z][\w/:.=-]*(?:\([^)]*\))?(?:,[A-Za-z][\w/:.=-]*(?:\([^)]*\))?)*)?|[\d=,]*|\(null\)"
)
ID: Final = r"^\s*[0-9]+(?:[_+.\[].*)?\s*$"
"""The id of a job, an element of an array, a part of a heterogeneous job, or a step."""
_FORMS: Final = {
    **dict.fromkeys(("JobID", "JobIDRaw"), re.compile(ID[1:-1])),
    **dict.fromkeys(("Submit", "Eligible", "Start", "End"), _DATE),
    **dict.fromkeys(
        ("ElapsedRaw", "TimelimitRaw", "NNodes", "Restarts", "AllocCPUS", "AllocNodes", "NCPUS", "ReqCPUS", "ReqNodes",
         "AssocID", "UID", "GID", "NTasks", "CPUTimeRAW", "QOSRAW", "WCKeyID", "Priority", "DBIndex", "QOSREQ"),
        _NUMBER,
    ),
    **dict.fromkeys(("Elapsed", "Timelimit", "CPUTime", "TotalCPU", "UserCPU", "SystemCPU", "Suspended", "Planned"),
                    _SPAN),
    **dict.fromkeys(("AllocTRES", "ReqTRES"), _TRES),
    **dict.fromkeys(("AllocGRES", "ReqGRES", "TresPerNode"), _GRES),
    **dict.fromkeys(("ExitCode", "DerivedExitCode"), re.compile(r"(?:\d+:\d+)?")),
    "State": re.compile(r"[A-Z_]+(?: by \S+)?\+?"),
    "NodeList": re.compile(r"[\w.,\[\]-]*|None assigned"),
}  # fmt: skip


def canonical(name: str) -> str:
    """A field's name as Slurm's manual writes it; of another, the name itself."""
    return _NAMES.get(name.strip().casefold(), name.strip())


def is_free(name: str) -> bool:
    """Whether a column may hold any text."""
    return name in FREE


def fits(name: str, cell: str) -> bool:
    """Whether a cell looks as those of its column do; anything does where the column's form is not known."""
    form = _FORMS.get(name)
    return form is None or form.fullmatch(cell.strip()) is not None
