"""Cells of logs as expressions: text, numbers, dates and states, null where nothing is recorded or can be read."""

from typing import Final

import polars as pl

_MISSING: Final = ("", "none", "null", "nan", "nat", "n/a", "na", "unknown")
_STATUS: Final = {
    "pass": "COMPLETED",
    "passed": "COMPLETED",
    "success": "COMPLETED",
    "succeeded": "COMPLETED",
    "terminated": "COMPLETED",
    "killed": "CANCELLED",
    "canceled": "CANCELLED",
    "waiting": "PENDING",
    "out_of_memory": "FAILED",
    "boot_fail": "NODE_FAIL",
    "deadline": "TIMEOUT",
}


def text(name: str) -> pl.Expr:
    """The column `name` trimmed; null where the log writes None, NaN, Unknown or nothing."""
    cell = pl.col(name).str.strip_chars()
    return pl.when(cell.str.to_lowercase().is_in(_MISSING)).then(None).otherwise(cell)


def absent(name: str) -> pl.Expr:
    """Where the log says nothing in the column `name`; what cannot be read is not absent."""
    return text(name).is_null()


def number(name: str) -> pl.Expr:
    """The column `name` as float64; null where it is no number, NaN or infinite."""
    value = text(name).cast(pl.Float64, strict=False)
    return pl.when(value.is_finite()).then(value).otherwise(None)


_OFFSET = "[+-](?:0[0-9]|1[0-4]):?[0-5][0-9]"


def clock_s(name: str) -> pl.Expr:
    """The date and time in the column `name` as seconds since 1970, null where it is none.

    `2020-06-09 18:41:01`, with `T` or a fraction, and with or without an offset (`+08:00`, `Z`); without one it counts
    as UTC.
    """
    stamp = text(name).str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
    zone = stamp.str.extract(f"({_OFFSET})$")
    local = stamp.str.replace(rf"\s*{_OFFSET}$", "").str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
    sign = pl.when(zone.str.starts_with("-")).then(-1.0).otherwise(1.0)
    hours, minutes = zone.str.slice(1, 2).cast(pl.Float64), zone.str.slice(-2, 2).cast(pl.Float64)
    offset_s = (sign * (hours * 3600 + minutes * 60)).fill_null(0.0)
    return local.dt.epoch("us").cast(pl.Float64) / 1e6 - offset_s


def status(name: str) -> pl.Expr:
    """The column `name` in Slurm's upper-case words (`docs/formats/job-logs.md`)."""
    word = text(name).str.to_lowercase().str.replace(r"\s+by\s+\S+$", "").str.replace_all(r"[\s-]+", "_")
    return word.replace(_STATUS).str.to_uppercase()
