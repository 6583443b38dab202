"""What is said of the price of preemption: a table of policies by interval, and up to where each stays ahead."""

from collections.abc import Iterator

from pointsman.report.metrics.price import BreakEven, Point, Price
from pointsman.report.tables.tables import Table
from pointsman.report.units import duration, names, percent, time_unit

TITLE = "The price of preemption: mean JCT by interval between checkpoints"


def price_table(price: Price) -> Table:
    """The mean JCT of each policy at each interval, and its change to the baseline at the same interval; intervals of
    that are in ``price.csv``.
    """
    columns = tuple(interval_name(s, price.lost_s, "every ") for s in price.intervals_s)
    labels = list(dict.fromkeys(point.policy for point in price.points))
    rows = [(label, *(_cell(point, price) for point in price.points if point.policy == label)) for label in labels]
    return Table(TITLE, ("policy", *columns), rows, price_sentence(price))


def interval_name(seconds: float, lost_s: float, every: str = "") -> str:
    """``every 1 h``; without checkpoints, what a preemption loses: ``nothing lost``, ``2 min lost``."""
    if seconds:
        return f"{every}{duration(seconds)}"
    return f"{duration(lost_s)} lost" if lost_s else "nothing lost"


def _cell(point: Point, price: Price) -> str:
    if point.policy == price.baseline or point.change.ratio is None:
        return duration(point.jct_mean_s)
    chance = ", n.s." if point.change.may_be_chance else ""
    return f"{duration(point.jct_mean_s)} ({percent(point.change.ratio, signed=True)}{chance})"


def price_sentence(price: Price) -> str:
    """Up to which interval each policy stays ahead of the baseline."""
    chance = any(point.change.may_be_chance for point in price.points)
    lost = EXPLAINED.format(f", and {duration(price.lost_s)} besides" if price.lost_s else "")
    said = [*(f"{each}." for each in _said_together(price)), lost, *(["n.s.: not significant."] if chance else [])]
    return " ".join([*said, *_not_simulated(price)])


EXPLAINED = (
    "A preempted job loses its work since its last checkpoint, half an interval on average{}. Policies that weigh "
    "this loss know the interval, and preempt less the longer it is."
)


def _not_simulated(price: Price) -> Iterator[str]:
    if not price.of_all_seeds:
        first = next(iter(price.cells.values()))[0].first
        drawn = "" if first.workload_seed is None else f"workload seed {first.workload_seed} and "
        yield f"Only one run of each policy was simulated, with {drawn}seed {first.seed}; --price simulates all."
    if price.left_out:
        yield f"Not simulated: {names(price.left_out, most=len(price.left_out))}; --price simulates every policy."


def _said_together(price: Price) -> list[str]:
    """Policies of which the same is to be said are named together."""
    who: dict[str, list[str]] = {}
    for one in price.break_evens:
        who.setdefault(_ahead(one, price), []).append(one.policy)
    return [f"{names(some, most=len(some))} {'is' if len(some) == 1 else 'are'} {said}" for said, some in who.items()]


def _ahead(one: BreakEven, price: Price) -> str:
    return f"{_where(one, price)}{'; this may be chance' if one.may_be_chance else ''}"


def _where(one: BreakEven, price: Price) -> str:
    if one.at_s is None:
        where = f"at {'every' if one.starts_ahead else 'any'} interval between checkpoints, up to"
        return (
            f"{'' if one.starts_ahead else 'not '}ahead of {price.baseline} {where} {duration(price.intervals_s[-1])}"
        )
    again = names([duration(s) for s in one.again_s]) if one.again_s else ""
    again += ", which may be chance" if one.again_by_chance and not one.may_be_chance else ""
    at = f"about {_two_digits(one.at_s)} between checkpoints"
    if one.starts_ahead:
        return f"ahead of {price.baseline} up to {at}{again and f', and again at {again}'}"
    where = f"from {at} on" if one.at_s else "where preemption loses work"
    return f"ahead of {price.baseline} only {where}{again and f', except at {again}'}"


def _two_digits(seconds: float) -> str:
    size, unit = time_unit(seconds)
    return f"{seconds / size:.2g} {unit}"


def price_of_gain(price: Price, policy: str) -> str:
    """Says what preemption costs the policy that a page names first, as a sentence after others; empty if unknown."""
    found = [one for one in price.break_evens if one.policy == policy]
    if not found:
        return ""
    return f" Where preemption loses work, {policy} is {_ahead(found[0], price)}.{_lower_elsewhere(price, policy)}"


def _lower_elsewhere(price: Price, policy: str) -> str:
    """Which other policy has the lowest mean at some interval."""
    others: dict[tuple[str, bool], list[str]] = {}
    for other, interval_s, is_chance in price.ahead_of(policy):
        at = interval_name(interval_s, price.lost_s, "a checkpoint every ")
        others.setdefault((other, is_chance), []).append(at)
    return "".join(
        f" The lowest mean with {names(at, most=len(at))} is that of {other}{', which may be chance' * is_chance}."
        for (other, is_chance), at in others.items()
    )
