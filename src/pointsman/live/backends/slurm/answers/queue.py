"""Jobs as ``squeue`` prints them."""

from typing import Final

from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.answers import cells, gpus
from pointsman.live.backends.slurm.answers.table import Row, Table
from pointsman.live.backends.slurm.records import SlurmJob
from pointsman.live.backends.slurm.states import phase_of

QUEUE: Final = Table("squeue", {
    "id": "JobArrayID", "number": "JobID", "user": "UserName", "uid": "UserID", "account": "Account",
    "partitions": "Partition", "qos": "QOS", "state": "State", "reason": "Reason", "priority": "PriorityLong",
    "nice": "Nice", "submit": "SubmitTime", "eligible": "EligibleTime", "start": "StartTime", "end": "EndTime",
    "limit": "TimeLimit", "nodes": "NumNodes", "tasks": "NumTasks", "tres": "tres-alloc", "per_job": "tres-per-job",
    "per_node": "tres-per-node", "per_task": "tres-per-task", "per_socket": "tres-per-socket", "on": "NodeList",
    "restarts": "RestartCnt", "requeues": "Requeue", "dependency": "Dependency", "required": "ReqNodes",
    "features": "Feature", "admin_comment": "admin_comment", "exit": "exit_code", "name": "Name",
})  # fmt: skip


def read_queue(text: str, mark: str) -> list[SlurmJob]:
    """The jobs of an answer.

    Raises:
        Unsure: it is not whole, or a cell of it cannot be read.
    """
    return [_read(row) for row in QUEUE.rows(text, mark)]


def _read(row: Row) -> SlurmJob:
    try:
        return _job(row)
    except ValueError as error:
        raise Unsure(f"squeue: job {row['id']:.40}: {error}") from None


def _job(row: Row) -> SlurmJob:
    state = row["state"].strip().upper()
    phase, nodes = phase_of([state]), max(1, cells.whole(row["nodes"]))
    asked = gpus.Asked(
        row["tres"], row["per_job"], row["per_node"], row["per_task"], row["per_socket"], nodes,
        cells.number_or(row["tasks"], 1),
    )  # fmt: skip
    wanted, on = gpus.demand(asked), cells.names(row["on"])
    return SlurmJob(
        id=row["id"], number=cells.whole(row["number"]), name=row["name"], user=row["user"],
        uid=cells.whole(row["uid"]), account=cells.optional(row["account"]), partitions=cells.words(row["partitions"]),
        qos=cells.optional(row["qos"]), state=state, reason=cells.reason(row["reason"]),
        priority=cells.whole(row["priority"]), nice=int(row["nice"]), submit_unix_s=cells.moment_s(row["submit"]),
        eligible_unix_s=cells.moment_s(row["eligible"]),
        start_unix_s=cells.moment_s(row["start"]) if on else None,
        end_unix_s=cells.moment_s(row["end"]) if phase == Phase.ENDED else None,
        time_limit_s=cells.limit_s(row["limit"]), nodes_asked=nodes, gpus=wanted,
        held=tuple(gpus.share_out(on, wanted)),
        restarts=cells.whole(row["restarts"]), requeues=cells.is_yes(row["requeues"]),
        dependency=cells.optional(row["dependency"]), required_nodes=cells.names(row["required"]),
        features=cells.optional(row["features"]), admin_comment=cells.optional(row["admin_comment"]),
        ending=cells.ending(row["exit"]),
    )  # fmt: skip
