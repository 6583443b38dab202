"""The first sentences of a page: the result in words."""

from collections.abc import Sequence

from pointsman.inputs.messages import counted
from pointsman.report.comparison import Comparison
from pointsman.report.metrics.groups import Group
from pointsman.report.metrics.paired.changes import Change, largest_loss
from pointsman.report.metrics.paired.differences import Difference, difference
from pointsman.report.metrics.price import Price
from pointsman.report.tables.losers import group_name
from pointsman.report.tables.price import price_of_gain
from pointsman.report.tables.tables import counted_span, left_over
from pointsman.report.units import duration, percent

WITHOUT_DURATIONS = ("none", "history")
"""Kinds of information that require no durations: none, or durations learned from completed jobs."""


def lead(groups: list[Group]) -> str:
    """The result in a sentence or two."""
    base = groups[0]
    if base.mean("jct_mean_s") is None:
        under = f"Under {base.label} no" if len(groups) > 1 else "No"
        return f"{under} counted job has run to its end, so completion times are undefined."
    if len(groups) == 1:
        return (
            f"{counted(base.counted.height, 'job finishes', 'jobs finish')} after "
            f"{duration(base.mean('jct_mean_s'))} on average, {_describe_wait(base)}."
            f"{counted_span(base)}{left_over(groups)}"
        )
    if len({group.mean("jct_mean_s") for group in groups}) == 1:
        return (
            f"The mean completion time is {duration(base.mean('jct_mean_s'))} under every policy."
            f"{counted_span(base)}{left_over(groups)}"
        )
    known = _rivals(groups)
    if not known:
        return f"The mean completion time is {_mean(base)}.{counted_span(base)}{left_over(groups)}"
    return f"{_least(base, known)}{counted_span(base)}{left_over(groups)}"


def _rivals(groups: Sequence[Group]) -> list[Group]:
    """Whose means can be set against the baseline's; to leave jobs over is no way to win."""
    most = groups[0].censored
    return [group for group in groups[1:] if group.censored <= most and group.mean("jct_mean_s") is not None]


def featured(groups: Sequence[Group]) -> Group | None:
    """The policy that the lead compares with the baseline, the first; None where it compares none."""
    base, rivals = groups[0], _rivals(groups)
    if not rivals or base.mean("jct_mean_s") is None:
        return None
    return min(rivals, key=lambda group: difference(group, base, "jct_mean_s").ratio or 0.0)


def who_pays(comparison: Comparison, policies: list[Group]) -> list[Change]:
    """The changes under the policy that the lead names."""
    one = featured(policies)
    return [] if one is None else comparison.changes_under(one)


def price_of(price: Price | None, policies: list[Group]) -> str:
    """Up to where the policy that the lead names stays ahead."""
    one = featured(policies)
    return "" if price is None or one is None else price_of_gain(price, one.label)


def losers(found: Sequence[Change]) -> str:
    """Who pays: the largest group of jobs that takes longer under the policy that the lead names."""
    if not found:
        return ""
    most = largest_loss(found)
    if most is None:
        return f" No group of jobs takes significantly longer under {found[0].policy}."
    low, high = (percent(end, signed=True) for end in most.jct_interval or (None, None))
    return (
        f" The largest group that loses under {most.policy}: {counted(most.jobs, 'job')} of {group_name(most)}, with a "
        f"mean completion time of {duration(most.jct_mean_s)} instead of {duration(most.jct_mean_baseline_s)} "
        f"({percent(most.jct_ratio, signed=True)} [{low} to {high}])."
    )


def _least(base: Group, rivals: Sequence[Group]) -> str:
    """Which policy has the least mean completion time beyond chance, by the differences to the baseline."""
    changes = [(difference(group, base, "jct_mean_s"), group) for group in rivals]
    ranked = sorted(changes, key=lambda item: item[0].ratio or 0.0)
    sooner = [(change, group) for change, group in ranked if change.is_lower]
    if sooner:
        change, best = sooner[0]
        others = [group for group in rivals if group is not best]
        both = f"{_mean(base)} and {_mean(best)}{_information(best)}"
        said = f"The mean completion time is {both}: {with_interval(change)}."
        return f"{said}{_close(best, others)}{_without_knowing([base, *rivals], best, base)}"
    change, other = ranked[0]
    if change.may_be_chance:
        return (
            f"No significant difference in the mean completion time between {_label(base)}, "
            f"{duration(base.mean('jct_mean_s'))}, and {other.label}, {duration(other.mean('jct_mean_s'))}"
            f"{_information(other)}: {with_interval(change)}."
        )
    mean = duration(base.mean("jct_mean_s"))
    least = f"The mean completion time is least under {_label(base)}, {mean}{_information(base)}"
    return f"{least}; next is {other.label}: {with_interval(change)}.{_without_knowing([base, *rivals], base, base)}"


def _label(group: Group) -> str:
    return f"{group.label} (the baseline)" if group.is_baseline else group.label


def _mean(group: Group) -> str:
    return f"{duration(group.mean('jct_mean_s'))} under {_label(group)}"


def with_interval(change: Difference) -> str:
    """A change and its interval: ``-1.2 % [-4.0 % to +2.0 %]``."""
    if change.ratio_interval is None:
        return percent(change.ratio, signed=True)
    low, high = (percent(end, signed=True) for end in change.ratio_interval)
    return f"{percent(change.ratio, signed=True)} [{low} to {high}]"


def _close(best: Group, others: Sequence[Group]) -> str:
    """That another may be as good as the best."""
    changes = [(difference(group, best, "jct_mean_s"), group) for group in others]
    close = [(change, group) for change, group in changes if change.may_be_chance]
    if not close:
        return ""
    change, other = min(close, key=lambda item: abs(item[0].ratio or 0.0))
    return f" No significant difference between {best.label} and {other.label}: {with_interval(change)}."


def happened(groups: list[Group]) -> str:
    """The completion time that the log itself records, where it does and policies stand beside it."""
    logged = next((group for group in groups[: len(groups) - 1] if group.is_logged), None)
    if logged is None or logged.mean("jct_mean_s") is None:
        return ""
    return f" By the log's own starts and ends it was {duration(logged.mean('jct_mean_s'))}."


def _information(group: Group) -> str:
    """The information that the policy used and a real scheduler may lack, as a relative clause; empty if none."""
    known = {"none": "", "history": "", "oracle": "uses true durations"}
    durations = known.get(group.knowledge, f"uses durations from {group.knowledge}")
    profiles = {"none": "", "true": "uses true model profiles"}.get(
        group.profiles, f"uses model profiles with errors ({group.profiles})"
    )
    told = " and ".join(filter(None, (durations, profiles))).replace(" and uses ", " and ")
    return f", which {told}" if told else ""


def _describe_wait(group: Group) -> str:
    """How much of the completion time jobs did not run: after preemptions, more than the wait for the first start."""
    wait = duration(group.mean("wait_mean_s"))
    if not group.mean("preemptions"):
        return f"{wait} of it waiting for their first start"
    return f"{duration(group.mean('pending_mean_s'))} of it pending, of which {wait} before the first start"


def _without_knowing(groups: Sequence[Group], best: Group, base: Group) -> str:
    """Which policy is best of those that need no durations, if another is best of all."""
    blind = [group for group in groups if group.knowledge in WITHOUT_DURATIONS and group.mean("jct_mean_s") is not None]
    if best.knowledge in WITHOUT_DURATIONS or not blind:
        return ""
    least = min(blind, key=lambda group: group.mean_jct_s)
    change = difference(least, base, "jct_mean_s")
    chance = f", no significant difference from {base.label}: {with_interval(change)}" if change.may_be_chance else ""
    said = f"{least.label} has the least, {duration(least.mean('jct_mean_s'))}{chance}"
    return f" Of the policies that require no durations, {said}."
