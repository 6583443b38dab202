"""Jobs that a cluster can never take, told with the place in the log and a way out."""

from pointsman.cluster.layout import Layout
from pointsman.engine.setup.demand import Pools, may_use
from pointsman.errors import InputError, TooWideError
from pointsman.workload import Workload
from pointsman.workload.readers.locate import line_of

MOST_TYPES = 8
WITHOUT = "or leave the column {column} of the log out, by --ignore {column}"


def too_wide(workload: Workload, row: int, gpus: int, widest: int, schedulers: int) -> InputError:
    """The error for a gang that could never start."""
    if schedulers == 1:
        cause = f"asks for {gpus:,} GPUs and can never have more than {widest:,} at once here"
        return _refused(workload, row, cause, "use a larger cluster, or --oversized drop or clamp", TooWideError)
    cause = f"asks for {gpus:,} GPUs, and none of {schedulers} schedulers can ever give it more than {widest:,} at once"
    fix = "use fewer schedulers, or a larger cluster, or --oversized drop or clamp"
    return _refused(workload, row, cause, fix, TooWideError)


def nowhere(
    workload: Workload, row: int, kind: str | None, partition: str | None, layout: Layout, pools: Pools
) -> InputError:
    """The error for a job that asks for what the cluster, or the partition, does not have."""
    names = sorted({name for names in pools.partitions for name in names})
    if not may_use(partition, names):
        cause = f"asks for partition {partition!r:.60}, which the cluster does not have"
        has = f"its partitions are {', '.join(names)}; add it to the cluster file"
        return _refused(workload, row, cause, f"{has}, {WITHOUT.format(column='partition')}")
    here = [p for p, names in enumerate(pools.partitions) if may_use(partition, names)]
    kinds = ", ".join(dict.fromkeys(layout.gpu_types[pools.gpu_types[p]] for p in here))
    where = f"partition {partition!r:.60}" if partition else "the cluster"
    cause = f"asks for GPU type {kind!r:.60}, which {where} does not have"
    like = "+".join(f"16x8/gpu={one}" for one in _types_of(workload, kind))
    fix = f"it has {kinds}; use a cluster with the types of the log, like --cluster {like}"
    return _refused(workload, row, cause, f"{fix}, {WITHOUT.format(column='gpu_type')}")


def _types_of(workload: Workload, kind: str | None) -> list[str]:
    """The GPU type of this job and those of the others, of alternatives the first; not more than a line holds."""
    asked = [kind, *workload.jobs["gpu_type"].drop_nulls().unique(maintain_order=True).to_list()]
    first = [str(one).split("|")[0].split("+")[0].strip()[:60] for one in asked]
    return list(dict.fromkeys(first))[:MOST_TYPES]


def _refused(workload: Workload, row: int, cause: str, fix: str, kind: type[InputError] = InputError) -> InputError:
    source = workload.provenance
    job_id = str(workload.jobs["job_id"][row])
    line = line_of(source, job_id)
    job = f"job {job_id!r:.60}" + (f" (row {row + 1})" if line is None else "")
    return kind(f"{job} {cause}", path=source.source, line=line, fix=fix)
