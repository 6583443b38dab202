"""What a simulation hands back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from pointsman.workload.frames import as_pandas


@dataclass(frozen=True, repr=False)
class RunData:
    """One run of one policy on one workload and cluster.

    Attributes:
        jobs: one row per job, in row order: ``job_id, user, queue, partition, model, gpu_type, gpus, priority,
            submit_s, duration_s`` as in the workload, and ``row`` (i64), ``estimate_s`` (f64, null if nothing was
            known), ``start_s`` (first start), ``end_s``, ``wait_s``, ``jct_s`` (f64, null where it did not happen),
            ``pending_s`` (wall seconds PENDING, before the first start and after preemptions and failures),
            ``run_s`` (wall seconds RUNNING), ``held_gpu_s``, ``preemptions``, ``lost_s``, ``nodes``,
            ``locality`` (str) and ``state`` (COMPLETED, or PENDING or RUNNING if the run was cut); where GPUs are
            shared also ``fraction``, the part of one GPU that was asked for (f64, null: all of it).
        events: the plan log, or None if it was not kept: ``time_ms, seq, kind, row, attempt, arg, reason, node,
            gpu_mask, gpus``. A START of a gang over p nodes is p rows of one ``seq``; bit i of ``gpu_mask`` is the
            i-th GPU of the node.
        series: samples equally spaced in simulated time: ``time_ms, used_gpus, running, pending, queued_gpus,
            largest_free, whole_free_nodes, head_gpus``.
        info: what was run and on what assumptions: policy, needs, knowledge, params, placement, overheads,
            cluster, gpus, nodes, node_names, node_gpus, node_gpu_types, seed, engine_s, wall_s, decisions, events
            (count), workload (provenance), quality, assumptions.
        speeds: every change of a running job's speed, or None if they were not kept: ``time_ms, row, rate, slowdown,
            computing_slowdown``. It has this speed from then on, until its next row or until it ceases to run.
        learnt: what the policy has learnt, by name of the file in a run directory; a result read from one has none.
    """

    jobs: pl.DataFrame
    events: pl.DataFrame | None
    series: pl.DataFrame
    info: dict[str, Any] = field(default_factory=dict)
    speeds: pl.DataFrame | None = None
    learnt: Mapping[str, bytes] = field(default_factory=dict)

    def __repr__(self) -> str:
        """``Result(gittins on jobs.csv, 2,000 jobs, seed 0)``."""
        source = (self.info.get("workload") or {}).get("source", "jobs")
        policy = self.info.get("policy_name") or self.info.get("policy", "?")
        silent = "" if self.events is not None or self.info.get("logged") else ", without events"
        told = f"{policy} on {source}, {self.jobs.height:,} jobs, seed {self.info.get('seed', 0)}{silent}"
        return f"{type(self).__name__}({told})"

    def to_pandas(self) -> Any:
        """`jobs` as a pandas DataFrame; pandas must be installed, pyarrow need not be."""
        return as_pandas(self.jobs)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """`jobs` for other libraries: ``pyarrow.table(result)``, ``polars.DataFrame(result)``."""
        return self.jobs.__arrow_c_stream__(requested_schema)
