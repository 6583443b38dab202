"""A native job table: its columns are checked, then the first cell that breaks a rule refuses it."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType

import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import quoted
from pointsman.workload.columns import ALIASES, OTHERS_WORDS, REQUIRED, SCHEMA
from pointsman.workload.frames import TIMES
from pointsman.workload.provenance import Place, Quality
from pointsman.workload.rules.clean import LINE, clean, completed, not_read
from pointsman.workload.rules.job_rules import NUMBERS, RULES
from pointsman.workload.rules.kept_columns import Keep, check_there, kept_of
from pointsman.workload.rules.refuse import refuse

Renamed = Callable[[Mapping[str, str]], str]
"""The call that gives columns of a table in memory other names, as text: ``df.rename({'Submit': 'submit_s'})``."""
_OTHER_UNITS = ("_ms", "_min", "_minutes", "_h", "_hours", "_days")
"""Endings of columns that another name would not turn into seconds."""


def validated(
    frame: pl.DataFrame,
    *,
    path: str,
    line: Callable[[int], int] | None = None,
    text_numbers: bool = False,
    renamed: Renamed | None = None,
    keep: Keep = MappingProxyType({}),
) -> tuple[pl.DataFrame, Quality]:
    """The complete, sorted job table of a native frame, and its quality report.

    Args:
        frame: at least `submit_s`, `gpus`, `duration_s`; other columns of the schema where known, and those to keep.
        path: what messages call the table.
        line: from row to line of the file; without it messages count rows from 1.
        text_numbers: whether numbers may come as strings (CSV).
        renamed: of a table in memory, the call that gives its columns other names; without it the table is a file.
        keep: columns of the table's own that stay.

    Raises:
        InputError: a column or a cell breaks a rule, or no job is left.
    """
    ignored = check_columns(frame.columns, path=path, renamed=renamed, keep=keep)
    known = frame.select(name for name in SCHEMA if name in frame.columns)
    if known.height == 0:
        where = "" if renamed else " under the header"
        raise InputError(f"there is no row{where}", path=path, fix="give at least one job")
    table = _texts(known, path, None if renamed else 1)
    _check_numbers(table, path, text_numbers, may_be_dates=renamed is not None)
    sound = refuse(table, path=path, line=line)
    sound = sound.hstack(kept_of(frame, keep, path=path, line=line if text_numbers else None))
    kept = clean(sound.with_row_index(LINE), [rule for rule in RULES if not rule.refused])
    if kept.jobs.height == 0:
        raise InputError("every job asks for 0 GPUs", path=path, fix="nothing is left to simulate")
    jobs, notes = completed(kept.jobs, keep)
    notes += not_read(ignored)
    lines = {reason: tuple(map(line, place.lines)) for reason, place in kept.places.items()} if line else {}
    places = {reason: Place(found) for reason, found in lines.items()}
    return jobs, Quality(table.height, jobs.height, kept.dropped, {}, notes, places=places)


def check_columns(
    names: Sequence[str], *, path: str, renamed: Renamed | None = None, keep: Keep = MappingProxyType({})
) -> list[str]:
    """Columns that are not ours, to be ignored; `renamed` and `keep` as of `validated`.

    Raises:
        InputError: a column that is required or to be kept is missing, or a name looks like a misspelt one of ours.
    """
    absent = [name for name in SCHEMA if name not in names]
    strange = [name for name in names if name not in SCHEMA and name not in keep.values()]
    line = None if renamed else 1
    missing = [name for name in REQUIRED if name in absent]
    meant = {name: target for name in strange if (target := _meant(name, absent))}
    if missing:
        plural = "s" if len(missing) > 1 else ""
        fix = _how_to_name(missing, strange, renamed) if renamed else _how_to_tell(missing, meant, names)
        raise InputError(f"the column{plural} {', '.join(missing)} must be there", path=path, line=line, fix=fix)
    check_there(keep, names, path=path, line=line)
    for name, target in meant.items():
        kept = f"Workload.of(df, columns=[{quoted(name)}])" if renamed else f"--keep-columns {shlex.quote(name[:60])}"
        fix = f"did you mean {target!r}?" + (f" {renamed({name: target})}" if renamed else "")
        fix += f"; {kept} keeps a column of your own"
        raise InputError(f"unknown column {quoted(name)}", path=path, line=line, fix=fix)
    return strange


def _how_to_tell(missing: Sequence[str], meant: Mapping[str, str], names: Sequence[str]) -> str:
    """Say which column of a file is probably misspelt, else the option that names them."""
    hints = [f"is {quoted(name)} meant to be {target!r}?" for name, target in meant.items() if target in missing]
    return "; ".join(hints) or (
        f"the columns are {_list_names(names)}; name those that hold them: --columns submit_s=…,gpus=…,duration_s=…"
    )


def _how_to_name(missing: Sequence[str], strange: Sequence[str], renamed: Renamed) -> str:
    """Say the call that renames the nearest columns of a table in memory."""
    nearest: dict[str, str] = {}
    for ours in missing:
        theirs = _nearest(ours, [name for name in strange if name not in nearest])
        nearest[theirs or f"COLUMN_WITH_{ours.upper()}"] = ours
    return (
        f"rename yours: {renamed(nearest)}; they are {_list_names(strange)}" if strange else "it has no other columns"
    )


def _nearest(ours: str, names: Sequence[str]) -> str | None:
    """The column that probably holds what `ours` does: by an ordinary word for it, else by its name without unit."""
    words = {_stem(name): name for name in reversed(names) if not name.endswith(_OTHER_UNITS)}
    known = [name for word, name in words.items() if OTHERS_WORDS.get(word) == ours]
    close = get_close_matches(_stem(ours), [word for word in words if word not in OTHERS_WORDS], 1, cutoff=0.6)
    return known[-1] if known else words[close[0]] if close else None


def _stem(name: str) -> str:
    """A column's name in lower case, without its unit."""
    return name.strip().lower().replace(" ", "_").removesuffix("_s")


def _list_names(names: Sequence[str]) -> str:
    return ", ".join([*(f"{name:.60}" for name in names[:20]), *(["..."] if len(names) > 20 else [])])


def _meant(name: str, absent: list[str]) -> str | None:
    word = name.strip().lower()
    if ALIASES.get(word) in absent:
        return ALIASES[word]
    stem = {target.removesuffix("_s"): target for target in absent}
    candidates = list(dict.fromkeys([*absent, *stem]))
    near = get_close_matches(word, candidates, 1, cutoff=0.75)
    return stem.get(near[0], near[0]) if near else None


def _texts(frame: pl.DataFrame, path: str, line: int | None) -> pl.DataFrame:
    names = [name for name in frame.columns if name not in NUMBERS and frame.schema[name] != pl.String]
    for name in names:
        try:
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        except pl.exceptions.PolarsError:
            cause = f"the column {name} holds {frame.schema[name]!s:.60}, not text"
            raise InputError(cause, path=path, line=line, fix="store it as text") from None
    return frame


def _check_numbers(frame: pl.DataFrame, path: str, text_numbers: bool, *, may_be_dates: bool) -> None:
    for name in (name for name in NUMBERS if name in frame.columns):
        dtype = frame.schema[name]
        if not (dtype.is_numeric() or dtype == pl.Null or (text_numbers and dtype == pl.String)):
            cause = f"the column {name} holds {dtype!s:.60}, not numbers"
            fix = "store it as numbers or dates" if may_be_dates and name in TIMES else "store it as a number"
            raise InputError(cause, path=path, fix=fix)
