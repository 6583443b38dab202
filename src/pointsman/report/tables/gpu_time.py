"""Tables of the page: what became of the GPU time, how it was shared, and how far apart gangs were placed."""

from pointsman.report.metrics.groups import Group, with_known_places
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, count, digits, number_of_jobs, percent

PLACES = {
    "gpu": "one GPU",
    "node": "one node",
    "rack": "nodes of a rack",
    "pod": "racks of a pod",
    "cluster": "several pods",
}
"""Localities in words, the tightest first."""


def gpu_time_table(groups: list[Group]) -> Table:
    """One row a policy: GPU time held, of use, and lost; means over its seeds."""
    columns = ("policy", "allocated", "… in the window", "productive", "GPU-hours lost", "jobs preempted")
    return Table("GPU time", columns, [_gpu_time(group) for group in groups])


def _gpu_time(group: Group) -> tuple[str, ...]:
    ratios = ("gpu_allocated_ratio", "window_allocated_ratio", "gpu_productive_ratio")
    lost = group.mean("lost_gpu_hours")
    return (
        group.label,
        *(percent(group.mean(name)) for name in ratios),
        NOTHING if lost is None else digits(lost),
        count(group.mean("jobs_preempted")),
    )


def sharing_table(groups: list[Group]) -> Table:
    """One row a policy that shares GPUs: how much of it there was; means over its seeds."""
    columns = (
        "policy", "jobs that shared", "GPU time shared", "slowed by co-located jobs", "running ÷ duration",
        "jobs with accumulation",
    )  # fmt: skip
    note = (
        "A GPU counts once as allocated, however many jobs are on it, and is divided evenly among them where tenants "
        "are shown; in GPU-hours of jobs it counts for each. Jobs run longer than their durations because of other "
        "jobs on their GPUs (slowed: over all their running), accumulation and their places (running ÷ duration: mean "
        "over these jobs). Two jobs may make more progress together than one, so productive time may exceed 100 %."
    )
    rows = [_sharing(group) for group in groups if group.first.summary["sharing"]]
    return Table("Shared GPUs", columns, rows, note if rows else "")


def _sharing(group: Group) -> tuple[str, ...]:
    def mean(name: str) -> float | None:
        found = [run.summary["sharing"][name] for run in group.runs]
        return None if None in found else sum(found) / len(found)

    return (
        group.label,
        *(percent(mean(name)) for name in ("jobs_shared_ratio", "gpu_shared_ratio")),
        *(NOTHING if times is None else digits(times) for times in (mean("slow_down_mean"), mean("stretch_shared"))),
        percent(mean("accumulated_ratio")),
    )


def locality_table(groups: list[Group]) -> Table:
    """Counted jobs, of several seeds the mean, by the tightest level of the cluster that held their last placement."""
    groups = with_known_places(groups)
    found = [_places(group) for group in groups]
    rows = [
        (said, *(_share(jobs.get(place, 0), sum(jobs.values())) for jobs in found))
        for place, said in PLACES.items()
        if any(place in jobs for jobs in found)
    ]
    columns = ("jobs within", *(group.label for group in groups))
    return Table("Where jobs ran", columns, rows, _placement_note(groups) if rows else "")


def _places(group: Group) -> dict[str, float]:
    runs = len(group.runs) if group.depends_on_seed else 1
    places = group.counted["locality"].drop_nulls().str.to_lowercase().value_counts()
    return {place: jobs / runs for place, jobs in places.iter_rows()}


def _placement_note(groups: list[Group]) -> str:
    unknown = sum(group.counted["locality"].null_count() for group in groups if group.is_logged)
    left_out = f" The log does not name nodes of this cluster for {number_of_jobs(unknown)}." if unknown else ""
    return f"The last placement of each counted job.{left_out}"


def _share(jobs: float, of: float) -> str:
    return f"{count(jobs)} ({percent(jobs / of)})" if of else NOTHING
