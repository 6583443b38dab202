"""Jobs that a cluster can never take, told with the place in the log and a way out."""

from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.layout import Layout
from pointsman.engine.setup.demand import Pools, may_use, per_node_of
from pointsman.engine.setup.widest import Widest
from pointsman.errors import InputError, TooWideError
from pointsman.inputs.gpu_names import plain_name
from pointsman.inputs.messages import counted
from pointsman.workload import Workload
from pointsman.workload.readers.locate import line_of

MOST_TYPES = 8
WITHOUT = "or leave the column {column} of the log out, by --ignore {column}"


def too_wide(workload: Workload, row: int, gpus: int, per_node: int, widest: Widest, schedulers: int) -> InputError:
    """The error for a gang that could never start; with `per_node` GPUs on each node, if it has a shape."""
    if per_node:
        where = "here" if schedulers == 1 else f"under any of {schedulers} schedulers"
        cause = f"asks for {shape_of(gpus, per_node)}, and {_most_of_shape(per_node, widest)} {where}"
    elif schedulers == 1:
        cause = f"asks for {counted(gpus, 'GPU')} and can never have more than {widest.gpus:,} at once here"
    else:
        most = f"none of {schedulers} schedulers can ever give it more than {widest.gpus:,} at once"
        cause = f"asks for {counted(gpus, 'GPU')}, and {most}"
    fewer = "use fewer schedulers, or a larger cluster" if schedulers > 1 else "use a larger cluster"
    fix = f"{fewer}, or --oversized drop or clamp" + (", or --ignore shape" if per_node else "")
    return _refusal(workload, row, cause, fix, TooWideError)


def shape_of(gpus: int, per_node: int) -> str:
    """A shape in words: 4 nodes with 2 GPUs each."""
    each = counted(per_node, "GPU")
    return counted(gpus // per_node, f"node with {each}", f"nodes with {each} each")


def _most_of_shape(per_node: int, widest: Widest) -> str:
    if widest.per_node < per_node:
        return f"no node can give it more than {widest.per_node:,}"
    return f"can never have more than {widest.gpus // per_node:,} such nodes at once"


def check_shapes(workload: Workload, policy: object) -> None:
    """That a policy that changes how many GPUs jobs have gets none whose shape it would have to keep.

    Raises:
        InputError: the first such job.
    """
    if getattr(policy, "keeps_shapes", True):
        return
    per_node = per_node_of(workload.jobs)
    if (per_node > 0).any():
        row = int((per_node > 0).arg_max() or 0)
        shape = shape_of(int(workload.jobs["gpus"][row]), int(per_node[row]))
        name = getattr(policy, "name", type(policy).__name__)
        cause = f"asks for {shape}, and policy {name!r} changes how many GPUs jobs have"
        raise _refusal(workload, row, cause, "leave the shapes out by --ignore shape, or the policy")


def check_node_sizes(workload: Workload, layout: Layout) -> None:
    """That no shape asks for more GPUs on a node than the largest has, so that more nodes would be of no use.

    Raises:
        InputError: the first job whose shape does.
    """
    per_node, size = per_node_of(workload.jobs), int(layout.node_gpus.max())
    if (per_node > size).any():
        row = int((per_node > size).arg_max() or 0)
        shape = shape_of(int(workload.jobs["gpus"][row]), int(per_node[row]))
        cause = f"asks for {shape}, and no node has more than {size:,}"
        raise _refusal(workload, row, cause, "use a cluster of larger nodes, or --ignore shape")


def nowhere(
    workload: Workload, row: int, kind: str | None, partition: str | None, layout: Layout, pools: Pools
) -> InputError:
    """The error for a job that asks for what the cluster, or the partition, does not have."""
    names = sorted({name for names in pools.partitions for name in names})
    if not may_use(partition, names):
        cause = f"asks for partition {partition!r:.60}, which the cluster does not have"
        has = f"its partitions are {', '.join(names)}; add it to the cluster file"
        return _refusal(workload, row, cause, f"{has}, {WITHOUT.format(column='partition')}")
    here = [p for p, names in enumerate(pools.partitions) if may_use(partition, names)]
    kinds = ", ".join(dict.fromkeys(layout.gpu_types[pools.gpu_types[p]] for p in here))
    where = f"partition {partition!r:.60}" if partition else "the cluster"
    cause = f"asks for GPU type {kind!r:.60}, which {where} does not have"
    asked = _types_of(workload, kind)
    if others := [one for one in asked[1:] if not layout.types_called(one)]:
        cause += f"; other jobs ask for {', '.join(others[:MOST_TYPES])}, which the cluster does not have either"
    fix = f"it has {kinds}; {_with_types(asked)}, {WITHOUT.format(column='gpu_type')}"
    return _refusal(workload, row, cause, fix)


def _types_of(workload: Workload, kind: str | None) -> list[str]:
    """The GPU type of this job and those of the others, of alternatives the first; each type by one name."""
    asked = [kind, *workload.jobs["gpu_type"].drop_nulls().unique(maintain_order=True).to_list()]
    first = [str(one).split("|")[0].split("+")[0].strip()[:60] for one in asked]
    return list(dict.fromkeys(map(plain_name, first)))


def _with_types(asked: list[str]) -> str:
    """What makes a cluster with all of these types."""
    if len(asked) <= MOST_TYPES and all(map(known_gpu, asked)):
        like = "+".join(f"16x8/gpu={one}" for one in asked)
        return f"use a cluster with the types of the log, like --cluster {like}"
    return "make a cluster with the types of the log by 'pointsman cluster suggest LOG -o FILE'"


def _refusal(workload: Workload, row: int, cause: str, fix: str, kind: type[InputError] = InputError) -> InputError:
    source = workload.provenance
    job_id = str(workload.jobs["job_id"][row])
    line = line_of(source, job_id)
    job = f"job {job_id!r:.60}" + (f" (row {row + 1})" if line is None else "")
    return kind(f"{job} {cause}", path=source.source, line=line, fix=fix)
