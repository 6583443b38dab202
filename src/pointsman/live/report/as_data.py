"""What was found, for programs. Names say their units; times are seconds since 1970."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pointsman.live.report.findings import (
    Agreement,
    Decision,
    Difference,
    Findings,
    by_account,
    by_bucket,
    by_day,
    by_hour,
    by_partition,
    median_error_s,
)
from pointsman.live.report.words import lead
from pointsman.report.metrics.counted import BUCKETS

Row = dict[str, Any]


def findings_data(found: Findings) -> Row:
    """Everything but the single decisions."""
    told = found.foretold
    return {
        "said": lead(found),
        "scheduler": found.scheduler,
        "policy": found.policy,
        "nodes": found.nodes,
        "gpus": found.gpus,
        "first_s": found.first_s,
        "last_s": found.last_s,
        "agreement": _agreement(found.agreement) | dict(_agreements(found)),
        "advice": None if found.advice is None else asdict(found.advice),
        "starts_not_judged": found.unjudged,
        "left_free": len(found.left_free),
        "differences": [_difference(one) for one in found.differences()],
        "worths": [asdict(one) for one in found.worths],
        "predicted_starts": {
            "jobs": len(told),
            "within_range": sum(one.is_kept for one in told),
            "sooner": sum(one.is_early for one in told),
            "later": sum(one.is_late for one in told),
            "error_median_s": median_error_s(told),
        },
        "requests": [asdict(one) for one in [*found.costs, *([found.all_costs] if found.all_costs else [])]],
        "alarms": [{"at_s": at_s, "said": said} for at_s, said in found.alarms],
    }


def _agreements(found: Findings) -> Iterator[tuple[str, list[Row]]]:
    kinds = {"partition": by_partition, "account": by_account, "day": by_day, "hour": by_hour}
    yield "by_gpus", [_agreement(one) for one in found.agreements(by_bucket, BUCKETS.index)]
    for name, by in kinds.items():
        yield f"by_{name}", [_agreement(one) for one in found.agreements(by)]


def _agreement(one: Agreement) -> Row:
    return asdict(one) | {"share": one.share if one.starts else None}


def _difference(one: Difference) -> Row:
    row = asdict(one)
    job = row.pop("job")
    return {"job_id": job.pop("shown")} | job | row


def decision_data(found: Findings, one: Decision) -> Row:
    """One decision, with its sentence, also where the policy agrees."""
    job = one.job
    return {
        "at_s": one.at_s,
        "job_id": job.shown if job else "",
        "gpus": job.gpus if job else None,
        "user": job.user if job else "",
        "account": job.account if job else "",
        "partition": job.partition if job else "",
        "agrees": one.agrees,
        "would_start": [passed.job.shown for passed in one.passed],
        "said": one.said or f"{found.scheduler} started {job.shown if job else ''}, as {found.policy} would have",
    }
