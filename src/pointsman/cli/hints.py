"""What people should know of results before they read the table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pointsman.cli import screen
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.report.result import Result
    from pointsman.workload import Workload


NAME_COLUMNS = "read it by --columns submit_s=NAME,gpus=NAME,duration_s=NAME with --time-unit ms, min or h"
LONGEST_SPAN_S, LONGEST_MEAN_S, SHORTEST_MEAN_S = 5 * 365 * 86_400, 60 * 86_400, 60
"""Span of submits, and mean duration, beyond which the unit of a log's times is doubtful (ours)."""

NEW_DEFAULTS = ("cost_weight", "patience_s", "memory_jobs", "whole_nodes_loss")
"""Parameters of `gittins` with new defaults since November 2026: 0 was the default of each before."""
HARDLY = 1e-4
"""Time that jobs wait over time that they run, up to which a comparison shows little (ours)."""


def tell_of_units(workload: "Workload") -> None:
    """Say so if times are hardly in seconds."""
    from pointsman.report.units import duration
    from pointsman.workload.readers.read import takes_time_unit

    jobs = workload.jobs
    span_s = float(jobs["submit_s"].max() - jobs["submit_s"].min())  # ty: ignore
    mean_s = float(jobs["duration_s"].mean())  # ty: ignore
    if span_s > LONGEST_SPAN_S or not SHORTEST_MEAN_S <= mean_s <= LONGEST_MEAN_S:
        said = f"the log spans {duration(span_s)}, and its jobs last {duration(mean_s)} on average"
        unit = "say --time-unit ms, min or h" if takes_time_unit(workload.provenance.format) else NAME_COLUMNS
        screen.note(f"{said}: are its times in seconds? If not, {unit}")


def remarks(
    workload: "Workload", estimate: str | None, labels: Sequence[str], results: "Sequence[Result]"
) -> Iterator[str]:
    """What of the log was changed, and what makes the figures say less than they seem to, in sentences.

    Args:
        workload: as it was read.
        estimate: the option.
        labels: the policy of each result, as tables name it.
        results: of the runs of one cell.
    """
    yield from _of_oversized(workload, labels, results)
    yield from dict.fromkeys(said for result in results for said in _of_names(result))
    yield from _of_schedulers(results)
    for label, result in zip(labels, results, strict=True):
        yield from _of_unstarted(label, result)
    yield from _of_no_wait(results)
    yield from _of_no_profiles(results)
    yield from _of_identical(labels, results)
    yield from _of_estimate(estimate, results)
    yield from _of_new_defaults(results)


def _of_estimate(estimate: str | None, results: "Sequence[Result]") -> Iterator[str]:
    """An estimate that was asked for and that no policy was told."""
    if estimate not in (None, "none") and all(estimate not in result.info["knowledge"] for result in results):
        learn = sorted({result.info["policy"] for result in results if "predictor" in result.info["params"]})
        fix = "".join(f" ({policy} takes it with --set {policy}.predictor=estimate)" for policy in learn)
        yield f"--estimate {estimate} has no effect: no policy here uses it{fix}"


def _of_new_defaults(results: "Sequence[Result]") -> Iterator[str]:
    """Says on which new defaults a run depends, and how to have the old ones."""
    from pointsman.policies.registry import get_policy

    found = [result.info["params"] for result in results if result.info["policy"] == "gittins"]
    if not found:
        return
    defaults = get_policy("gittins").make()
    changed = [name for name in NEW_DEFAULTS if any(params[name] == getattr(defaults, name) for params in found)]
    if changed:
        fix = " ".join(f"--set gittins.{name}=0" for name in changed)
        yield f"gittins has new defaults ({', '.join(changed)}): {fix} restores the old ones"


def _of_no_wait(results: "Sequence[Result]") -> Iterator[str]:
    waited = [float(result.jobs["pending_s"].sum()) for result in results]
    held = [float(result.jobs["run_s"].sum()) for result in results]
    if all(wait <= HARDLY * run for wait, run in zip(waited, held, strict=True)):
        said = "jobs hardly wait" if any(waited) else "no job waits"
        yield f"{said}: the cluster is larger than these jobs need; --load 0.9 submits them closer together"


def _of_no_profiles(results: "Sequence[Result]") -> Iterator[str]:
    """An error of profiles that no policy was told of."""
    if any(result.info.get("profile_error") for result in results) and all(
        result.info.get("told_profiles", "none") == "none" for result in results
    ):
        yield (
            "--profile-error has no effect: no policy used a profile, because it uses none or no job has a model "
            "(--assign-models 0 assigns models)"
        )


def _of_identical(labels: Sequence[str], results: "Sequence[Result]") -> Iterator[str]:
    """Says which policies made the same schedule of the first workload with the first seed."""
    if len(results) < 2:
        return
    alike: dict[int, list[str]] = {}
    for label, result in zip(labels, results, strict=True):
        if all(result.info[name] == results[0].info[name] for name in ("seed", "workload")):
            alike.setdefault(_schedule(result), []).append(label)
    for same in alike.values():
        if len(same) > 1:
            why = _why_alike([result for label, result in zip(labels, results, strict=True) if label in same])
            yield f"{' and '.join(same)} made the same schedule{why}"


def _why_alike(results: "Sequence[Result]") -> str:
    """That a policy goes by models, and no job names one."""
    from pointsman.policies.registry import get_policy

    nameless = results[0].jobs["model"].null_count() == results[0].jobs.height
    by_models = any(get_policy(result.info["policy"]).profiles for result in results)
    return "; no job names a model, and --assign-models 0 gives them some" if nameless and by_models else ""


def _schedule(result: "Result") -> int:
    """A number for when all jobs started, ended and were preempted."""
    return int(result.jobs.select("row", "start_s", "end_s", "preemptions").hash_rows().sum())


def _of_oversized(workload: "Workload", labels: Sequence[str], results: "Sequence[Result]") -> Iterator[str]:
    """What the quality report gained when the jobs met the cluster, under which policies if not under all."""
    from pointsman.report.units import attributed

    yield from attributed(labels, [_quality_remarks(workload, result) for result in results])


def _quality_remarks(workload: "Workload", result: "Result") -> Iterator[str]:
    known = {**workload.quality.dropped, **workload.quality.clamped}
    for word, entries in (
        ("dropped", result.info["quality"]["dropped"]),
        ("changed", result.info["quality"]["clamped"]),
    ):
        for what, n in entries.items():
            if n != known.get(what):
                yield f"{word} {n:,}: {what}"


def _of_names(result: "Result") -> Iterator[str]:
    """A misspelt name changes results and would go unnoticed: that of a model, whose jobs run at the same speed
    everywhere, or that of a queue, whose jobs keep to no limit.
    """
    from pointsman.engine.rate_models.factors.gpu_sharing import NO_JOB_SHARES
    from pointsman.engine.rate_models.factors.learned_interference import NO_JOB_INTERFERES
    from pointsman.engine.rate_models.named_models import UNKNOWN_MODELS
    from pointsman.engine.setup.asked import QUEUES_WITHOUT_JOBS
    from pointsman.engine.setup.demand import NO_PARTITIONS

    noted = (UNKNOWN_MODELS, NO_JOB_SHARES, NO_JOB_INTERFERES, NO_PARTITIONS, QUEUES_WITHOUT_JOBS)
    return (assumption for assumption in result.info["assumptions"] if assumption.startswith(noted))


def _of_schedulers(found: "Sequence[Result]") -> Iterator[str]:
    """Several schedulers cost most policies something, so a comparison with one is not of the policies alone."""
    from pointsman.report.units import policy_name

    counts = {policy_name(r.info): r.info["params"]["schedulers"] for r in found if "schedulers" in r.info["params"]}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} {n}" for name, n in counts.items())
        yield f"the policies divide the cluster among different numbers of schedulers ({told}): set them alike"


def _of_unstarted(label: str, result: "Result") -> Iterator[str]:
    """Nothing was left to happen, and jobs still wait: what they waited for is in no figure."""
    left = int((result.jobs["state"] == "PENDING").sum())
    if left:
        yield (
            f"{label}, seed {result.info['seed']}: {counted(left, 'job')} never ended, because the policy left them "
            "waiting; no figure includes their wait"
        )
