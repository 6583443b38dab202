"""Figures and names as people read them."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pointsman.inputs.durations import NOTHING, UNITS, digits, duration, time_unit
from pointsman.inputs.messages import counted

__all__ = [
    "NOTHING",
    "UNITS",
    "class_name",
    "count",
    "digits",
    "duration",
    "names",
    "percent",
    "policy_name",
    "spread",
    "time_unit",
]

_IN_FILE = re.compile(r"[^(),]*\.py:")


def percent(ratio: float | None, *, signed: bool = False) -> str:
    """``12.3 %`` of 0.123."""
    if ratio is None or math.isnan(ratio):
        return NOTHING
    rounded = round(100 * ratio, 1) or 0.0  # no minus before a zero
    return f"{rounded:{'+' if signed and rounded else ''},.1f} %"


def names(all_of_them: Sequence[str], most: int = 3) -> str:
    """``fifo``; ``fifo and las``; ``fifo, las, srtf and 2 others``."""
    others = len(all_of_them) - most
    if others > 0:
        return f"{', '.join(all_of_them[:most])} and {f'{others} others' if others > 1 else all_of_them[-1]}"
    return " and ".join(filter(None, (", ".join(all_of_them[:-1]), all_of_them[-1])))


def spread(values: Mapping[str, float], said: Callable[[float], str]) -> str:
    """``5 s (las) to 9 s (fifo and srtf)``: the least and the most, with all that are said alike; one, if all are."""
    texts = {label: said(value) for label, value in values.items()}
    ends = (texts[min(values, key=values.__getitem__)], texts[max(values, key=values.__getitem__)])
    if ends[0] == ends[1]:
        return f"{ends[0]} under {'all' if len(texts) > 1 else names([*texts])}"
    least, most = (f"{end} ({names([label for label in texts if texts[label] == end])})" for end in ends)
    return f"{least} to {most}"


def policy_name(info: Mapping[str, Any]) -> str:
    """The policy of a run as tables call it, a user's own by its name (by its class in runs that tell no name)."""
    return str(info.get("policy_name") or class_name(str(info["policy"])))


def class_name(text: str) -> str:
    """``Mine`` of ``/home/me/mine.py:Mine``."""
    return _IN_FILE.sub("", text)


def attributed(labels: Sequence[str], said: Sequence[Iterable[str]], between: str = ", ") -> list[str]:
    """Each sentence once: those said of all labels as they are, others after the labels that they are said of."""
    of: dict[str, list[str]] = {}
    for label, sentences in zip(labels, said, strict=True):
        for sentence in filter(None, sentences):
            of.setdefault(sentence, []).append(label)
    return [
        sentence if len(who) == len(labels) else f"{between.join(dict.fromkeys(who))}: {sentence}"
        for sentence, who in of.items()
    ]


def number_of_jobs(number: int) -> str:
    """``1 job``, ``2,500 jobs``."""
    return counted(number, "job")


def count(value: float | None) -> str:
    """``12,345``; three digits if it is not whole."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if float(value).is_integer() else digits(value)
