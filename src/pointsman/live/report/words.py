"""What an operator wants to know first, in a paragraph; and how sure it is."""

import time
from collections.abc import Sequence
from statistics import median
from typing import Final

from pointsman.inputs.durations import duration
from pointsman.inputs.messages import counted
from pointsman.live.report.findings import Findings, Worth, median_error_s
from pointsman.report.units import digits, percent

FEW: Final = 20
"""Predicted starts from which on their share says something (ours)."""
LEAST_KEPT: Final = 0.8
"""Least share of them within a range of 90 % that can be relied on (ours)."""


def lead(found: Findings) -> str:
    """How often the policy would have decided alike, what else it would have been worth, and what looking cost."""
    return " ".join(
        filter(None, (_agreement(found), _advice(found), _odds(found), _worth(found), _foretold(found), _cost(found)))
    )


def moment(at_s: float) -> str:
    """A date and a time on the clock of this machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))


def _agreement(found: Findings) -> str:
    all_, over = found.agreement, f"Over {duration(found.last_s - found.first_s)}"
    if not all_.starts:
        return f"{over} {found.scheduler} started no job."
    share = f"{all_.agreed:,} of {found.scheduler}'s {counted(all_.starts, 'start')} ({percent(all_.share)})"
    return f"{over} {found.policy} would have made {share} at the same moment."


def _advice(found: Findings) -> str:
    """That agreement is no surprise."""
    if found.advice is None:
        return ""
    changes, jobs = counted(found.advice.changes, "time"), counted(found.advice.jobs, "job")
    return f"Priorities of {jobs} were changed {changes} meanwhile (--advise), so agreement is partly their effect."


def _odds(found: Findings) -> str:
    """How many of the differences came to nothing, and how often GPUs were left free."""
    alike = sum(one.made_no_odds for one in found.differing)
    soon = f"In {alike:,} of the others, the jobs that it preferred began within a minute anyway."
    left = counted(len(found.left_free), "time")
    free = f"{left} {found.scheduler} left GPUs free for a minute or more that {found.policy} would have used."
    return " ".join([soon] * bool(alike) + [free] * bool(found.left_free))


def _worth(found: Findings) -> str:
    worths = found.worths
    if not worths:
        return f"What {found.policy} would change has not been estimated yet: that is done every hour."
    change_s = median(one.change_s for one in worths)
    much = f"{sooner(change_s)}{_relative(worths)} on average"
    how = "by the only estimate" if len(worths) == 1 else f"the median of {len(worths):,} hourly estimates"
    return f"Had {found.policy} taken over, the jobs there would have ended {much}, {how}. {_sure(worths)}"


def sooner(change_s: float) -> str:
    """``5 min sooner``, ``5 min later`` or ``at the same time``."""
    return "at the same time" if change_s == 0 else f"{duration(abs(change_s))} {'sooner' if change_s < 0 else 'later'}"


def _relative(worths: Sequence[Worth]) -> str:
    """The median share of the time until they end."""
    shares = [one.change_s / one.now_s for one in worths if one.now_s > 0]
    return f" ({percent(median(shares), signed=True)})" if shares and median(shares) else ""


def _sure(worths: Sequence[Worth]) -> str:
    gains, losses = sum(one.is_gain for one in worths), sum(one.is_loss for one in worths)
    if not gains and not losses:
        return "No estimate is beyond the uncertainty of durations."
    return f"The whole 90 % interval is a gain in {gains:,} of {len(worths):,}, and a loss in {losses:,}."


def _foretold(found: Findings) -> str:
    told = found.foretold
    if not told:
        return ""
    kept = sum(one.is_kept for one in told)
    share = f"{kept:,} of {counted(len(told), 'predicted start')} ({percent(kept / len(told))})"
    error_s = median_error_s(told)
    error = "" if error_s is None else f" The median error is {duration(error_s)}."
    return f"{share} came within their 90 % range{_reliance(kept, len(told))}.{error}"


def _reliance(kept: int, told: int) -> str:
    if told < FEW:
        return ", too few to judge by"
    return ", so do not rely on them yet" if kept < LEAST_KEPT * told else ""


def _cost(found: Findings) -> str:
    cost = found.all_costs
    if cost is None:
        return ""
    most = digits(cost.most_a_minute)
    rate = f"{digits(cost.a_minute)} requests a minute"
    rate += "" if most == digits(cost.a_minute) else f", {most} in the highest hour"
    alarms = f" Alarms: {len(found.alarms):,}." if found.alarms else ""
    return f"Observing cost the controller {rate}; its slowest answer took {duration(cost.slowest_s)}.{alarms}"


def differing(found: Findings) -> str:
    """What the policy would have done in the place of the starts that it would not have made."""
    differ, policy = found.differing, found.policy
    others = sum(bool(one.passed) for one in differ)
    waits = f"; in {len(differ) - others:,} it would have let the job wait, or preempted others"
    starts = f"{counted(len(differ), 'start')} that {policy} would not have made"
    return f"Of {starts}, it preferred other jobs in {others:,}{waits if others < len(differ) else ''}."


def limits(found: Findings) -> list[str]:
    """How the figures were made, and what they cannot say."""
    policy, scheduler = found.policy, found.scheduler
    said = [
        f"At each start by {scheduler}, {policy} was asked what it would do in the state that {scheduler} had made. It "
        "never had a state of its own, so the differences do not add up.",
        f"How long jobs run was learnt from those that had ended by then. {policy} knew nothing else of durations.",
        f"An estimate of the change compares futures of all jobs that were there, as they are under a model of "
        f"{scheduler}'s priorities and backfilling, and under {policy}. Its interval holds 90 % of the futures: it "
        "covers unknown durations, not the error of the model.",
        "Estimates one hour apart are mostly of the same jobs: they are not independent, and cannot be added up.",
        "Jobs that wait for a reason other than priority and resources (a dependency, a limit, a licence, a "
        "reservation, required nodes) count as held: no policy could start them. Jobs without GPUs are left out.",
    ]
    late = f"{counted(found.unjudged, 'start was', 'starts were')} seen after more than two minutes, and not compared."
    return [*said, late] if found.unjudged else said
