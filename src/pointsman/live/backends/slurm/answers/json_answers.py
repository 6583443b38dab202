"""Jobs, nodes and partitions in the JSON of Slurm's commands, of versions from 21.08, and of slurmrestd."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pointsman.inputs.slurm_json import instant, job_ids, number, object_of, state_of, text_of
from pointsman.live.backends.facts import Phase, Unsure
from pointsman.live.backends.slurm.answers import cells, gpus
from pointsman.live.backends.slurm.records import (
    EndedRun,
    Ending,
    NodeGpus,
    SlurmJob,
    SlurmNode,
    SlurmPartition,
)
from pointsman.live.backends.slurm.states import node_state, node_words, phase_of

Object = Mapping[str, Any]
Record = TypeVar("Record")


def read_jobs_json(text: str) -> list[SlurmJob]:
    """The jobs of ``squeue --json`` or ``scontrol show job --json``.

    Raises:
        Unsure: it is no whole list of jobs.
    """
    return [*_each(text, "jobs", _job)]


def read_nodes_json(text: str) -> list[SlurmNode]:
    """The nodes of ``scontrol show node --json``, and of ``sinfo --json`` before 23.02.

    Raises:
        Unsure: it is no whole list of nodes.
    """
    return [*_each(text, "nodes", _node)]


def read_partitions_json(text: str) -> list[SlurmPartition]:
    """The partitions of ``scontrol show partition --json`` and of slurmrestd.

    Raises:
        Unsure: it is no whole list of partitions.
    """
    return [*_each(text, "partitions", _partition)]


def read_runs_json(text: str) -> list[EndedRun]:
    """The runs of ``sacct --json``.

    Raises:
        Unsure: it is no whole list of jobs.
    """
    return [*_each(text, "jobs", _ended)]


def _each(text: str, key: str, make: Callable[[Object], Record]) -> Iterator[Record]:
    try:
        document = json.loads(text, strict=False)  # names of jobs may have line breaks
    except (ValueError, RecursionError) as error:
        raise Unsure(f"half an answer in JSON: {error!s:.80}") from None
    listed = document.get(key) if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise Unsure(f"an answer in JSON without a list of {key}")
    if document.get("errors"):
        raise Unsure(f"Slurm gives {key} with errors: {document['errors']!r:.120}")
    for one in listed:
        try:
            yield make(one)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unsure(f"JSON of {key} that cannot be read: {error!r:.80}: {one!r:.80}") from None


def _job(of: Object) -> SlurmJob:
    state, *flags = _words(of["job_state"])
    phase, on = phase_of((state, *flags)), cells.names(_text(of, "nodes"))
    nodes = max(1, _whole(of, "node_count"))
    wanted = gpus.demand(_read_asked(of, nodes))
    return SlurmJob(
        id=_id(of), number=_whole(of, "job_id"), name=_text(of, "name"), user=_text(of, "user_name"),
        uid=_whole(of, "user_id", -1), account=_text(of, "account"), partitions=cells.words(_text(of, "partition")),
        qos=_text(of, "qos"), state=state, flags=tuple(flags), reason=cells.reason(_text(of, "state_reason")),
        priority=_whole(of, "priority"), nice=_whole(of, "nice"), submit_unix_s=instant(of.get("submit_time")),
        eligible_unix_s=instant(of.get("eligible_time")), start_unix_s=instant(of.get("start_time")) if on else None,
        end_unix_s=instant(of.get("end_time")) if phase == Phase.ENDED else None, time_limit_s=_limit_s(of),
        nodes_asked=nodes, gpus=wanted, held=_node_gpus(of, on) or tuple(gpus.share_out(on, wanted)),
        restarts=_whole(of, "restart_cnt"), requeues=of.get("requeue") is True, dependency=_text(of, "dependency"),
        required_nodes=cells.names(_text(of, "required_nodes")),
        excluded_nodes=cells.names(_text(of, "excluded_nodes")), features=_text(of, "features"),
        admin_comment=_text(of, "admin_comment"), ending=_ending(of.get("exit_code")),
    )  # fmt: skip


def _text(of: Object, key: str) -> str:
    """A text that can be written anywhere: half a surrogate pair cannot."""
    return (text_of(of.get(key)) or "").encode("utf-8", "replace").decode()


def _whole(of: Object, key: str, default: int = 0) -> int:
    found = number(of.get(key))
    return found if isinstance(found, int) else default


def _words(value: Any) -> list[str]:
    """States, in whatever form: the state itself is the first."""
    found = [str(word).upper() for word in value] if isinstance(value, list) else [(state_of(value) or "").upper()]
    if not found or not found[0]:
        raise ValueError("no state")
    return found


def _id(of: Object) -> str:
    array = {key.removeprefix("array_"): of.get(key) for key in ("array_task_id", "array_job_id")}
    array = {"job_id": array["job_id"], "task_id": array["task_id"], "task": of.get("array_task_string")}
    _, shown = job_ids(dict(of), array, {"job_id": of.get("het_job_id"), "job_offset": of.get("het_job_offset")})
    return shown or str(of["job_id"])


def _read_asked(of: Object, nodes: int) -> gpus.Asked:
    tres = _text(of, "tres_alloc_str") or _text(of, "tres_req_str")
    options = (_text(of, f"tres_per_{unit}") for unit in ("job", "node", "task", "socket"))
    return gpus.Asked(tres, *options, nodes, max(1, _whole(of, "tasks")))


def _limit_s(of: Object) -> float | None:
    minutes = number(of.get("time_limit"))
    return 60.0 * minutes if isinstance(minutes, int) and 0 < minutes < 0xFFFFFFFE else None


def _node_gpus(of: Object, on: tuple[str, ...]) -> tuple[NodeGpus, ...]:
    """By the details of each node, in the order of its nodes; nothing if there are none."""
    details = of.get("gres_detail") or []
    return tuple(map(gpus.node_gpus, on, details)) if len(details) == len(on) else ()


def _ending(value: Any) -> Ending:
    """Code and signal: of a status (22.05), ``return_code`` (23.02), with numbers that may not be set (23.11)."""
    if not isinstance(value, dict) or "return_code" not in value:
        found = number(value)
        return cells.status(found) if isinstance(found, int) else Ending()
    signal = object_of(value.get("signal"))
    code, killed = number(value["return_code"]), number(signal.get("id", signal.get("signal_id")))
    return Ending(code if isinstance(code, int) else 0, killed if isinstance(killed, int) else 0)


def _node(of: Object) -> SlurmNode:
    written = [*_words(of["state"]), *map(str, of.get("state_flags") or ())]
    states = node_words("+".join(written))
    return SlurmNode(
        str(of["name"]), node_state(states), states, _text(of, "reason"), gpus.by_type(_text(of, "gres")),
        sum(count for _, count in gpus.by_type(_text(of, "gres_used"))), gpus.indexes(_text(of, "gres_used")),
        tuple(map(str, of.get("partitions") or ())),
    )  # fmt: skip


def _partition(of: Object) -> SlurmPartition:
    """As ``scontrol`` nests it from 23.02 on, or flat as slurmrestd had it before."""
    nested = object_of(of.get("partition"))
    maximums, nodes, priority = (object_of(of.get(key)) for key in ("maximums", "nodes", "priority"))
    states = _words(nested.get("state", of.get("state")))
    minutes = number(maximums.get("time", of.get("max_time_limit")))
    flags = [str(flag).casefold() for flag in of.get("flags") or ()]
    return SlurmPartition(
        str(of["name"]), states[0], "default" in flags, 60.0 * minutes if isinstance(minutes, int) else None,
        _whole(priority, "tier") or _whole(of, "priority_tier", 1), "",
        cells.names(str(nodes.get("configured") or of.get("nodes") or "")),
    )  # fmt: skip


def _ended(of: Object) -> EndedRun:
    times, state = object_of(of.get("time")), of.get("state")
    current = state.get("current") if isinstance(state, dict) else state
    _, shown = job_ids(dict(of), object_of(of.get("array")), object_of(of.get("het")))
    return EndedRun(
        shown or str(of["job_id"]), _whole(of, "job_id"), _words(current)[0], _ending(of.get("exit_code")),
        *(instant(times.get(key)) for key in ("submission", "start", "end")),
        nodes=cells.names(_text(of, "nodes")),
    )  # fmt: skip
