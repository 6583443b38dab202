"""What a person should know of a Slurm whose jobs a daemon starts, besides the states of its partitions."""

from collections.abc import Iterator, Sequence

from pointsman.cluster.hostlist import compress
from pointsman.inputs.durations import duration
from pointsman.live.backends.slurm.controller_clock import describe_skew
from pointsman.live.backends.slurm.marks import Partitions
from pointsman.live.backends.slurm.other_daemons import OtherDaemons
from pointsman.live.backends.slurm.records import Snapshot


def more_faults(
    snapshot: Snapshot, partitions: Partitions, others: OtherDaemons, miscounted: Sequence[str], doubts: Sequence[str]
) -> Iterator[str]:
    """What is wrong besides the states of partitions, be it with nodes whose GPUs are `miscounted`, or because `doubts`
    last.
    """
    yield describe_skew(snapshot.skew_s)
    for doubt in doubts:
        yield f"jobs that Slurm lists no more are not believed to be gone, because its answer may not be whole: {doubt}"
    if miscounted:
        yield (
            f"Slurm counts GPUs of {compress(miscounted)} that no job has, so no job starts there: "
            "call 'scontrol reconfigure', and it counts them anew"
        )
    if {partitions.gate, partitions.target} - {one.name for one in snapshot.partitions}:
        within = duration(snapshot.controller.min_job_age_s)
        yield (
            "Slurm ends the jobs of a partition that is removed, and runs them again if it comes back within "
            f"{within} (MinJobAge): put it back into slurm.conf, and call 'scontrol reconfigure'"
        )
    for store, id_ in others.look(snapshot.jobs).items():
        yield (
            f"another daemon ({store}) starts jobs of this Slurm, too, such as {id_}, and each undoes what the "
            "other does: stop one by 'pointsman live stop --hand-back --state DIR'"
        )
