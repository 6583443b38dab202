"""A run, put together of jobs, a cluster, a policy and options: what its state is built from. `simulate`, the training
environments and live clusters all begin here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pointsman.cluster import Cluster
from pointsman.cluster.layout import Layout
from pointsman.engine.run.contract import CompiledPolicy, Policy
from pointsman.engine.run.policy_terms import Asked, placement_of, terms_of
from pointsman.engine.setup.asked import asked_of
from pointsman.engine.setup.briefing import Briefing, known_at_submission
from pointsman.engine.setup.build import Rules
from pointsman.engine.setup.job_columns import briefed_of, check_columns, job_columns
from pointsman.engine.setup.overheads import load_overheads
from pointsman.engine.setup.prepare import Prepared, prepare
from pointsman.engine.setup.refusal import check_shapes
from pointsman.engine.setup.terms import Terms
from pointsman.types import PLACEMENT_NAMES
from pointsman.workload import Workload

Options = Mapping[str, Any]
"""Those of a run (`pointsman.experiment.RunOptions`), by name."""


def check_run(workload: Workload, asked_for: Asked, policy: CompiledPolicy | Policy, options: Options) -> Terms:
    """What a run has by policy and options together; a run that this refuses can be refused before any other begins.

    Raises:
        UsageError: an option does not go with the policy, a parameter names what no job of the workload has, or the
            policy requires a column that is not kept.
        InputError: a job has a shape that the policy cannot keep.
    """
    jobs = workload.jobs
    terms = terms_of(policy, asked_for, options, has_limits=jobs["time_limit_s"].null_count() == 0)
    check_shapes(workload, policy)
    check_columns(jobs, policy)
    if isinstance(policy, CompiledPolicy):
        policy.check_jobs(known_at_submission(jobs))
    return terms


def check_fits(workload: Workload, cluster: Cluster, policy: CompiledPolicy | Policy, options: Options) -> None:
    """That the cluster can take every job, as the options ask; of options and policies that `check_run` has passed.

    Raises:
        InputError: a gang could never start, or no job is left. UsageError: the policy does not go with the cluster.
    """
    getattr(policy, "on_cluster", lambda _: None)(cluster)
    asked_of(
        workload, _with_queues(cluster.layout(), policy, workload),
        placement=PLACEMENT_NAMES[placement_of(policy, options["placement"])], oversized=options["oversized"],
        schedulers=getattr(policy, "divides_among", 1),
    )  # fmt: skip


def assemble(
    workload: Workload, cluster: Cluster, asked_for: Asked, policy: CompiledPolicy | Policy, options: Options
) -> tuple[Prepared, Rules, Briefing | None]:
    """What a state is built from: the jobs on the cluster, the rules of the run, and what the policy is told of both.

    Args:
        workload: the jobs.
        cluster: where they run.
        asked_for: how the policy was asked for.
        policy: what decides.
        options: everything else about the run.

    Raises:
        InputError: a gang could never start. UsageError: an option does not go with the policy, or another option.
    """
    getattr(policy, "on_cluster", lambda _: None)(cluster)
    terms = check_run(workload, asked_for, policy, options)
    if options["enforce_limits"]:
        from pointsman.workload.transforms.enforce_limits import enforce_limits as enforced

        workload = enforced(workload)
    if options["assign_models"] is not None:
        from pointsman.speed.profiles.assign import assign_models as assign

        workload = replace(workload, jobs=assign(workload.jobs, options["assign_models"]))
    layout = _with_queues(cluster.layout(), policy, workload)
    prepared = prepare(
        workload, layout, terms, oversized=options["oversized"], seed=options["seed"], profiles=options["profiles"],
        congestion={**options["congestion"]}, profile_error=options["profile_error"],
    )  # fmt: skip
    rules = Rules(
        round_ms=round(1000 * asked_for.round_s), seed=options["seed"], log=options["log"] is not False,
        log_speeds=options["log_speeds"], audit=options["audit"], hosted=not isinstance(policy, CompiledPolicy),
        admits=getattr(policy, "admits", False), **load_overheads(options["overheads"]).milliseconds(),
    )  # fmt: skip
    own = _briefing(policy, prepared)
    return prepared, rules, briefed_of(prepared.jobs, job_columns(prepared.jobs, policy), own)


def _briefing(policy: CompiledPolicy | Policy, prepared: Prepared) -> Briefing | None:
    """What a compiled policy works out of the jobs before the run."""
    if not isinstance(policy, CompiledPolicy) or not policy.briefed:
        return None
    layout = prepared.layout
    return policy.briefing(known_at_submission(prepared.jobs), int(layout.node_gpus.sum()), list(layout.queue_limits))


def _with_queues(layout: Layout, policy: CompiledPolicy | Policy, workload: Workload) -> Layout:
    """The cluster with the queue limits of the policy besides its own, of which the lower hold."""
    if not isinstance(policy, CompiledPolicy):
        return layout
    limits = policy.queue_limits(known_at_submission(workload.jobs), int(layout.node_gpus.sum()))
    own = layout.queue_limits
    both = {name: min(limit, own.get(name, limit)) for name, limit in limits.items()}
    return replace(layout, queue_limits={**own, **both})
