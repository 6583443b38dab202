"""Files people mistake for job logs, told by what they are."""

import json
import re
from typing import Final

from pointsman.errors import InputError
from pointsman.workload.readers.rows import split_header
from pointsman.workload.readers.source import Source

_CLUSTER = "give it to --cluster"
_JOBS = "give the job log instead"
_TASKS = "give pai_task_table.csv, which has jobs and their GPUs"
_HARDWARE = "it says what hardware is there; give the job log instead"
_PROFILE = "it describes speeds, not jobs; give the job list instead"
_NODES = re.compile(r"\s*(?:NodeName|ClusterName|PartitionName|SwitchName|SlurmctldHost)=")
"""How the output of scontrol, slurm.conf and topology.conf begin."""
_KEYS = "of JSON lines or a list of objects name the keys: --columns submit_s=…,gpus=…,duration_s=…"
_STEP_TIMES = "a Pollux table of step times"

_TABLES: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (("sn", "cpu_milli", "memory_mib", "gpu", "model"), "an openb node list", _CLUSTER),
    (("machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"), "a PAI machine list", _HARDWARE),
    (("num_switch", "num_node_p_switch", "num_gpu_p_node"), "a Tiresias cluster description", _HARDWARE),
    (("ip", "DSW", "PSW", "ASW"), "a network topology list", _HARDWARE),
    (("machineId", "number of GPUs"), "a Philly machine list", _HARDWARE),
    (("job_name", "inst_id", "user", "status", "start_time"), "a PAI job table, which has no GPUs", _TASKS),
    (("inst_id", "user", "gpu_type_spec", "group", "workload"), "a PAI group tag table", _TASKS),
    (("job_name", "task_name", "inst_name", "worker_name"), "a PAI instance table", _TASKS),
    (("worker_name", "machine", "start_time", "machine_cpu"), "a PAI machine metrics table", _TASKS),
    (("worker_name", "gpu_name", "gpu_wrk_util"), "a PAI sensor table", _TASKS),
    (("job_name", "task_name", "inst_num", "plan_gpu"), "the header alone of a PAI task table", _TASKS),
    (("placement", "local_bsz", "step_time", "sync_time"), f"{_STEP_TIMES} by placement", _PROFILE),
    (("num_nodes", "num_replicas", "local_bsz", "step_time"), f"{_STEP_TIMES} by scale", _PROFILE),
    (("progress", "iteration", "grad_sqr", "grad_var"), "a Pollux validation run", _PROFILE),
    (("step_time_s",), "a table of step times", _PROFILE),
    (("steps_per_s",), "a table of throughputs", _PROFILE),
    (("steps_s_a", "steps_s_b"), "a table of co-location throughputs", _PROFILE),
    (("iterations_per_s",), "a table of throughputs", _PROFILE),
    (("throughput",), "a table of throughputs", _PROFILE),
    (("ratio_a",), "a table of network-sharing ratios", _PROFILE),
    (("running_gpu_num", "pending_gpu_num"), "a time series of a cluster's load", _JOBS),
    (("time", "active", "total"), "a time series of active nodes", _JOBS),
    (("id", "job_num", "gpu_job_num"), "a summary of clusters", _JOBS),
    (("date", "total"), "a time series of GPU counts", _JOBS),
)
"""Columns that a table of the kind has, what it is, and what to do with it; the first match counts."""


def refusal(source: Source) -> InputError | None:
    """What `source` is and what to do with it, if it is a known kind of file that holds no jobs."""
    names = set(split_header(source))
    words = set(source.first_line.split())
    if words >= {"NAME", "AGE"} and words & {"READY", "STATUS", "COMPLETIONS", "QUEUE"}:
        fix = "export it with `kubectl get pods,jobs,workloads -A -o json`"
        return InputError("this is the table that kubectl prints, without times and GPUs", path=source.path, fix=fix)
    if _NODES.match(source.first_line):
        fix = "`pointsman cluster import` makes a cluster file of it"
        return InputError("this is a list of nodes, not a job log", path=source.path, fix=fix)
    for columns, what, fix in _TABLES:
        if names.issuperset(columns):
            return InputError(f"this is {what}, not a job log", path=source.path, fix=fix)
    if names == {"duration"}:
        return InputError("this is a list of run times alone, not a job log", path=source.path, fix=_JOBS)
    return _refused_json(source) or _headless(source) or _separator_error(source)


def _refused_json(source: Source) -> InputError | None:
    head = source.utf8.lstrip()[:1]
    if head not in (b"{", b"["):
        return None
    try:
        value = json.loads(source.text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return InputError("JSON lines, but no job log of a known format", path=source.path, fix=_KEYS)
        return InputError(f"broken JSON: {error.msg}", path=source.path, line=error.lineno, fix="is it truncated?")
    except (RecursionError, ValueError):
        return InputError("JSON that cannot be read", path=source.path, fix=_JOBS)
    if isinstance(value, dict) and "apiVersion" in value:
        fix = "give what `kubectl get pods,jobs,workloads -A -o json` prints; nodes go to `pointsman cluster import`"
        return InputError("objects of Kubernetes, but no pods or jobs", path=source.path, fix=fix)
    if isinstance(value, dict) and any(str(key).split("_")[0] in ("v100", "p100", "k80") for key in value):
        fix = "give the .trace file, and this one as its throughputs"
        return InputError("this is a Gavel throughput file, not a job log", path=source.path, fix=fix)
    return InputError("JSON, but no job log of a known format", path=source.path, fix=_KEYS)


def _headless(source: Source) -> InputError | None:
    """A PAI table as published, without its header line: known by its width and its status words."""
    from pointsman.workload.readers.pai import STATUSES

    cells = split_header(source)
    if len(cells) == 6 and cells[3] in STATUSES:
        return InputError("this is a PAI job table, which has no GPUs", path=source.path, fix=_TASKS)
    return None


def _separator_error(source: Source) -> InputError | None:
    """A native table with another separator."""
    for mark, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        names = split_header(source, mark)
        if len({"submit_s", "gpus", "duration_s"} & set(names)) >= 2:
            cause = f"the columns are separated by {word}, not commas"
            return InputError(cause, path=source.path, line=1, fix="save it with commas")
    return None
