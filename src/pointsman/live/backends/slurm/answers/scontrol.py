"""Jobs, nodes, partitions and the configuration as ``scontrol show`` prints them."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.answers import cells, gpus
from pointsman.live.backends.slurm.records import Controller, NodeGpus, SlurmJob, SlurmNode, SlurmPartition
from pointsman.live.backends.slurm.states import node_state, node_words, phase_of

_HEAD: Final = re.compile(r"\s*JobId=(\d+)(?: ArrayJobId=(\d+) ArrayTaskId=(\S+))?(?: ArrayTaskThrottle=\d+)?"
    r"(?: HetJobId=(\d+) HetJobOffset=(\d+))? JobName=")  # fmt: skip
_SECOND_LINE: Final = "\n   UserId="
_USERS_OWN: Final = "\n   Command="
"""From here on stands what users wrote: commands, folders, comments."""
_FIELD: Final = re.compile(r"([\w:/]+)=(\S*)")
_ALLOCATION: Final = re.compile(r"^ +Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES(?:_IDX)?=(\S*)", re.MULTILINE)
_SETTING: Final = re.compile(r"^(\w+) *= ?(.*?) *$", re.MULTILINE)
_AS_OF: Final = re.compile(r"^Configuration data as of (\S+)", re.MULTILINE)
_USER: Final = re.compile(r"(.*)\((\d+)\)")

Fields = Mapping[str, str]


def read_job(text: str, name: str | None = None) -> SlurmJob:
    """The job that ``scontrol -d show job ID`` prints.

    Args:
        text: the answer, about one job.
        name: of the job, where it is known: what is in a name can then not be taken for a field.

    Raises:
        Unsure: it is not whole, or cannot be read.
    """
    head = _HEAD.match(text)
    rest = text[head.end() :] if head else ""
    end = len(name) if name is not None else max(rest.find(_SECOND_LINE), 0)
    if head is None or not rest.startswith(_SECOND_LINE, end) or (name and not rest.startswith(name)):
        raise Unsure(f"scontrol show job: no answer about a job: {text!r:.80}")
    sure, users_own, tail = rest[end:].partition(_USERS_OWN)
    if not users_own:
        raise Unsure(f"scontrol show job {head[1]}: half an answer")
    fields = {**_fields(tail), **_fields(sure)}
    try:
        return _job(head, rest[:end], fields, sure)
    except (KeyError, ValueError) as error:
        raise Unsure(f"scontrol show job {head[1]}: {error}") from None


def _fields(text: str) -> dict[str, str]:
    """Fields by name; of one that is there twice the first counts."""
    return dict(reversed(_FIELD.findall(text)))


def _job(head: re.Match[str], name: str, fields: Fields, sure: str) -> SlurmJob:
    user = _USER.fullmatch(fields["UserId"])
    state, on = fields["JobState"].upper(), cells.names(fields["NodeList"])
    phase, nodes = phase_of([state]), max(1, cells.whole(fields["NumNodes"]))
    wanted = gpus.demand(_read_asked(fields, nodes))
    return SlurmJob(
        id=_id(head), number=int(head[1]), name=name, user=user[1] if user else fields["UserId"],
        uid=int(user[2]) if user else -1, account=cells.optional(fields["Account"]),
        partitions=cells.words(fields["Partition"]), qos=cells.optional(fields["QOS"]), state=state,
        reason=cells.reason(fields["Reason"]), priority=cells.whole(fields["Priority"]), nice=int(fields["Nice"]),
        submit_unix_s=cells.moment_s(fields["SubmitTime"]), eligible_unix_s=cells.moment_s(fields["EligibleTime"]),
        start_unix_s=cells.moment_s(fields["StartTime"]) if on else None,
        end_unix_s=cells.moment_s(fields["EndTime"]) if phase == Phase.ENDED else None,
        time_limit_s=cells.limit_s(fields["TimeLimit"]), nodes_asked=nodes, gpus=wanted,
        held=_node_gpus(sure, on) or tuple(gpus.share_out(on, wanted)), restarts=cells.whole(fields["Restarts"]),
        requeues=cells.is_yes(fields["Requeue"]), dependency=cells.optional(fields["Dependency"]),
        required_nodes=cells.names(fields["ReqNodeList"]), excluded_nodes=cells.names(fields["ExcNodeList"]),
        features=cells.optional(fields.get("Features", "")),
        admin_comment=cells.optional(fields.get("AdminComment", "")), ending=cells.ending(fields["ExitCode"]),
    )  # fmt: skip


def _id(head: re.Match[str]) -> str:
    """The id as ``squeue`` prints it."""
    number, array, task, gang, offset = head.groups()
    if array:
        return f"{array}_{task}" if task.isdecimal() else f"{array}_[{task}]"
    return f"{gang}+{offset}" if gang else number


def _read_asked(fields: Fields, nodes: int) -> gpus.Asked:
    tres = fields.get("AllocTRES") or fields.get("ReqTRES") or fields.get("TRES", "")
    options = (fields.get(f"TresPer{unit}", "") for unit in ("Job", "Node", "Task", "Socket"))
    return gpus.Asked(tres, *options, nodes, cells.number_or(fields.get("NumTasks", ""), 1))


def _node_gpus(text: str, on: tuple[str, ...]) -> tuple[NodeGpus, ...]:
    """The GPUs on each node, in the order of its nodes."""
    listed = [(node, cell) for names, cell in _ALLOCATION.findall(text) for node in cells.names(names)]
    found = {node: gpus.node_gpus(node, cell) for node, cell in listed}
    return tuple(found[node] for node in on) if {*on} <= {*found} else ()


def read_nodes(text: str) -> list[SlurmNode]:
    """The nodes that ``scontrol -d -o show node`` prints.

    Raises:
        Unsure: it is not whole, or cannot be read.
    """
    return [_node(fields, line) for fields, line in _records(text, "NodeName")]


def _node(fields: Fields, line: str) -> SlurmNode:
    states = node_words(fields["State"])
    reason = re.search(r" Reason=(.*?)(?: \[\S+@\S+\])?(?:  |$)", line)
    return SlurmNode(
        fields["NodeName"], node_state(states), states, reason[1] if reason else "", gpus.by_type(fields["Gres"]),
        sum(count for _, count in gpus.by_type(fields.get("GresUsed", ""))), gpus.indexes(fields.get("GresUsed", "")),
        cells.words(fields.get("Partitions", "")),
    )  # fmt: skip


def read_partitions(text: str) -> list[SlurmPartition]:
    """The partitions that ``scontrol -o show partition`` prints.

    Raises:
        Unsure: it is not whole, or cannot be read.
    """
    return [_partition(fields) for fields, _ in _records(text, "PartitionName")]


def _partition(fields: Fields) -> SlurmPartition:
    return SlurmPartition(
        fields["PartitionName"], fields["State"].upper(), cells.is_yes(fields["Default"]),
        cells.limit_s(fields["MaxTime"]), cells.number_or(fields.get("PriorityTier", ""), 1),
        cells.optional(fields.get("PreemptMode", "")), cells.names(fields["Nodes"]),
    )  # fmt: skip


def _records(text: str, key: str) -> Iterator[tuple[Fields, str]]:
    """The fields of each record, one a line; what administrators wrote of it may break lines."""
    lines = re.split(rf"^(?={key}=)", text, flags=re.MULTILINE)
    if lines[0].strip() or len(lines) == 1 or not text.endswith("\n"):
        raise Unsure(f"scontrol show: no whole list of {key}s: {text!r:.80}")
    for line in lines[1:]:
        try:
            yield _fields(line), line.rstrip("\n")
        except (KeyError, ValueError) as error:
            raise Unsure(f"scontrol show: {line!r:.60}: {error}") from None


def read_controller(text: str) -> Controller:
    """The controller by what ``scontrol show config`` prints.

    Raises:
        Unsure: it is not whole, or cannot be read.
    """
    said = dict(_SETTING.findall(text))
    as_of = _AS_OF.search(text)
    try:
        boot, asked = cells.moment_s(said["BOOT_TIME"]), cells.moment_s(as_of[1] if as_of else "")
        if boot is None or asked is None:
            raise ValueError("no time")
        return Controller(
            said["SLURM_VERSION"], boot, asked, said["ClusterName"], said["SchedulerType"], said["PriorityType"],
            tuple(_weights(said)), float(said["MinJobAge"].split()[0]), _uid(said["SlurmUser"]),
            cells.words(cells.reason(said["PrivateData"])),
            said.get("AccountingStorageType", "").endswith("slurmdbd"),
        )  # fmt: skip
    except (KeyError, ValueError) as error:
        raise Unsure(f"scontrol show config: no whole answer: {error}") from None


def _weights(said: Fields) -> Iterator[tuple[str, int]]:
    """Weights of the multifactor plugin that are numbers; with any other it prints none."""
    for name, value in said.items():
        if name.startswith("PriorityWeight") and value.isdecimal():
            yield name, int(value)


def _uid(user: str) -> int:
    found = _USER.fullmatch(user)
    return int(found[2]) if found else -1
