"""A job as commands of Slurm print it, in the forms of several versions; written by hand after recorded output."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pointsman.cluster import hostlist
from pointsman.live.backends.facts import Phase
from pointsman.live.backends.slurm.answers.queue import QUEUE
from pointsman.live.backends.slurm.records import NodeGpus, SlurmJob

NO_TIME = "N/A"


def table(rows: Sequence[Sequence[str]], mark: str) -> str:
    """What ``squeue`` and ``sinfo`` print: each cell, then the mark; a header first."""
    return "".join("".join(cell + mark for cell in row) + "\n" for row in rows)


def squeue(jobs: Sequence[SlurmJob], mark: str) -> str:
    """As 22.05 prints the columns that we ask for; 20.11 to 24.11 do so, too, but for the words of resources."""
    header = [column.upper() for column in QUEUE.format("").removeprefix("--Format=").split(",")]
    return table([header, *(list(_cells(job)) for job in jobs)], mark)


def _cells(job: SlurmJob) -> Iterator[str]:
    nodes = hostlist.compress(part.node for part in job.held)
    yield from (job.id, str(job.number), job.user, str(job.uid), job.account or "(null)", ",".join(job.partitions))
    yield from (job.qos or "(null)", job.state, job.reason or "None", str(job.priority), str(job.nice))
    yield from (_time(job.submit_unix_s), _time(job.eligible_unix_s), _time(job.start_unix_s))
    yield _time(job.end_unix_s) if job.phase == Phase.ENDED else "NONE"
    yield from (limit(job.time_limit_s), f"{job.nodes_asked}", "1", "cpu=1,node=1,billing=1", "N/A")
    yield f"gres:gpu:{job.gpus.gpu_type}:{job.gpus.per_node}" if job.gpus.per_node else "N/A"
    yield from ("N/A", "N/A", nodes, str(job.restarts), "1" if job.requeues else "0", job.dependency or "(null)")
    yield from (hostlist.compress(job.required_nodes), job.features or "(null)", job.admin_comment or "(null)")
    yield from (str(job.ending.code << 8 | job.ending.signal), job.name)


def _time(unix_s: int | None) -> str:
    return NO_TIME if unix_s is None else str(unix_s)


def limit(seconds: float | None) -> str:
    """``1-02:03:04``, ``2:03:04`` or ``03:04``."""
    if seconds is None:
        return "UNLIMITED"
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    clock = f"{hour:02d}:{minute:02d}:{second:02d}"
    return f"{days}-{clock}" if days else f"{hour}{clock[2:]}" if hour else f"{minute}:{second:02d}"


def shown(job: SlurmJob) -> str:
    """As ``scontrol -d show job`` of 22.05 prints a job that is no part of an array."""
    excluded = hostlist.compress(job.excluded_nodes or ()) or "(null)"
    return (
        f"JobId={job.number} JobName={job.name}\n"
        f"   UserId={job.user}({job.uid}) GroupId=users(100) MCS_label=N/A\n"
        f"   Priority={job.priority} Nice={job.nice} Account={job.account or '(null)'} QOS={job.qos or '(null)'}\n"
        f"   JobState={job.state} Reason={job.reason or 'None'} Dependency={job.dependency or '(null)'}\n"
        f"   Requeue={int(job.requeues)} Restarts={job.restarts} BatchFlag=1 Reboot=0 "
        f"ExitCode={job.ending.code}:{job.ending.signal}\n"
        f"   RunTime=00:00:00 TimeLimit={limit(job.time_limit_s)} TimeMin=N/A\n"
        f"   SubmitTime={_time(job.submit_unix_s)} EligibleTime={_time(job.eligible_unix_s)}\n"
        f"   StartTime={_time(job.start_unix_s)} EndTime={_time(job.end_unix_s)} Deadline=N/A\n"
        f"   Partition={','.join(job.partitions)} AllocNode:Sid=localhost:1\n"
        f"   ReqNodeList={hostlist.compress(job.required_nodes) or '(null)'} ExcNodeList={excluded}\n"
        f"   NodeList={hostlist.compress(part.node for part in job.held)}\n"
        f"   NumNodes={job.nodes_asked}-{job.nodes_asked} NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n"
        "   TRES=cpu=1,node=1,billing=1\n"
        + "".join(f"     Nodes={part.node} CPU_IDs=0 Mem=0 GRES={gres(job, part)}\n" for part in job.held)
        + f"   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0\n   Features={job.features or '(null)'} DelayBoot=0\n"
        "   Command=/home/u/NodeList=gpu99 ExcNodeList=gpu99\n   WorkDir=/home/u\n   Power=\n"
        + (f"   TresPerNode=gres:gpu:{job.gpus.gpu_type}:{job.gpus.per_node}\n" if job.gpus.per_node else "")
        + "\n"
    )


def gres(job: SlurmJob, part: NodeGpus) -> str:
    """What a job holds of one node."""
    kind = f"gpu:{job.gpus.gpu_type}" if job.gpus.gpu_type else "gpu"
    listed = ",".join(map(str, part.indexes or ()))
    return f"{kind}:{part.count}(IDX:{listed})" if part.count else ""


def json_22_05(jobs: Sequence[SlurmJob]) -> str:
    """``squeue --json`` of 21.08 and 22.05: plain numbers, one state, the status of `os.wait`."""
    return json.dumps({"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [], "jobs": [*map(_plain, jobs)]})


def json_23_02(jobs: Sequence[SlurmJob]) -> str:
    """23.02: numbers that may be unset or infinite, a state in a text still, ``return_code``."""
    return json.dumps({"errors": [], "warnings": [], "jobs": [_wrapped(job, newer=False) for job in jobs]})


def json_24_05(jobs: Sequence[SlurmJob]) -> str:
    """23.11 to 24.11: lists of states, a number in ``return_code``, too."""
    return json.dumps({"errors": [], "warnings": [], "jobs": [_wrapped(job, newer=True) for job in jobs]})


def _plain(job: SlurmJob) -> dict[str, Any]:
    return {
        **_texts(job), "job_state": job.state, "priority": job.priority, "nice": job.nice,
        "submit_time": job.submit_unix_s or 0, "eligible_time": job.eligible_unix_s or 0,
        "start_time": job.start_unix_s or 0,
        "end_time": job.end_unix_s or 0, "node_count": job.nodes_asked, "tasks": 1,
        "time_limit": None if job.time_limit_s is None else int(job.time_limit_s) // 60,
        "exit_code": job.ending.code << 8 | job.ending.signal, "array_job_id": 0, "array_task_id": None,
        "het_job_id": 0, "het_job_offset": 0, "tres_per_node": _per_node(job, "gres:gpu:"),
    }  # fmt: skip


def _wrapped(job: SlurmJob, *, newer: bool) -> dict[str, Any]:
    code: Any = number(job.ending.code) if newer else job.ending.code
    killed = {"id": number(job.ending.signal), "name": ""} if newer else {"signal_id": job.ending.signal, "name": ""}
    minutes = number(0, infinite=True) if job.time_limit_s is None else number(int(job.time_limit_s) // 60)
    return {
        **_texts(job), "job_state": [job.state, *job.flags] if newer else job.state, "priority": number(job.priority),
        "nice": job.nice,
        "submit_time": number(job.submit_unix_s or 0), "eligible_time": number(job.eligible_unix_s or 0),
        "start_time": number(job.start_unix_s or 0), "end_time": number(job.end_unix_s or 0),
        "node_count": number(job.nodes_asked), "tasks": number(1), "time_limit": minutes,
        "exit_code": {"status": ["SUCCESS"] if newer else "SUCCESS", "return_code": code, "signal": killed},
        "array_job_id": number(0), "array_task_id": number(0, known=False), "het_job_id": number(0),
        "het_job_offset": number(0), "tres_per_node": _per_node(job, "gres/gpu:"),
    }  # fmt: skip


def number(value: int, *, known: bool = True, infinite: bool = False) -> dict[str, Any]:
    """As 23.02 and later write one."""
    return {"set": known and not infinite, "infinite": infinite, "number": value}


def _per_node(job: SlurmJob, before: str) -> str:
    return f"{before}{job.gpus.gpu_type}:{job.gpus.per_node}" if job.gpus.per_node else ""


def _texts(job: SlurmJob) -> dict[str, Any]:
    """What is the same in all of these versions."""
    return {
        "job_id": job.number, "name": job.name, "user_name": job.user, "user_id": job.uid, "account": job.account,
        "partition": ",".join(job.partitions), "qos": job.qos, "state_reason": job.reason or "None",
        "nodes": hostlist.compress(part.node for part in job.held), "restart_cnt": job.restarts,
        "requeue": job.requeues, "dependency": job.dependency, "features": job.features, "array_task_string": "",
        "required_nodes": hostlist.compress(job.required_nodes), "admin_comment": job.admin_comment,
        "excluded_nodes": hostlist.compress(job.excluded_nodes or ()), "tres_alloc_str": "cpu=1,node=1,billing=1",
        "gres_detail": [gres(job, part) for part in job.held], "tres_per_job": "", "tres_per_task": "",
        "tres_per_socket": "",
    }  # fmt: skip
