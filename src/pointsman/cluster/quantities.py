"""Numbers with a unit, as people write them in a cluster file: ``25 GB/s``, ``200 Gb/s``, ``5 us``, ``32 GiB``."""

import re
from math import isfinite
from typing import Final

_NUMBER: Final = r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?)"
_BANDWIDTH: Final = re.compile(_NUMBER + r"\s*([kKMGT]?)(i?)(B|b|bit)(?:/s|ps)")
_MEMORY: Final = re.compile(_NUMBER + r"\s*([kKMGT]?)(i?)(B?)")
_LATENCY: Final = re.compile(_NUMBER + r"\s*(ns|us|µs|μs|ms|s)")
_POWER: Final = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_PER_SECOND: Final = {"ns": 1e9, "us": 1e6, "µs": 1e6, "μs": 1e6, "ms": 1e3, "s": 1.0}

BANDWIDTH_PATTERN: Final = rf"^\s*{_BANDWIDTH.pattern}\s*$"
MEMORY_PATTERN: Final = rf"^\s*{_MEMORY.pattern}\s*$"
LATENCY_PATTERN: Final = rf"^\s*{_LATENCY.pattern}\s*$"


def bandwidth_bytes_per_s(text: str) -> float:
    """Bytes per second of ``25 GB/s`` (bytes) or ``200 Gb/s``, ``200 Gbps``, ``200 Gbit/s`` (bits).

    Raises:
        ValueError: no number with such a unit, or not a positive finite bandwidth.
    """
    number, prefix, binary, unit = _parts(_BANDWIDTH, text, "a bandwidth", "'25 GB/s' or '200 Gb/s'")
    return _positive(float(number) * _scale(prefix, binary) / (1 if unit == "B" else 8), text)


def memory_bytes(text: str) -> float:
    """Bytes of ``32 GiB``, ``32Gi`` (powers of 1024), ``32 GB`` or ``32G`` (powers of 1000).

    Raises:
        ValueError: no number with such a unit, or not a positive finite size.
    """
    number, prefix, binary, unit = _parts(_MEMORY, text, "a memory size", "'32 GiB'")
    if not prefix and not unit:
        raise ValueError(f"{text!r} has no unit; write a memory size such as '32 GiB'")
    return _positive(float(number) * _scale(prefix, binary), text)


def latency_s(text: str) -> float:
    """Seconds of ``5 us``, ``1.5 µs``, ``200 ns``, ``1 ms`` or ``0 s``.

    Raises:
        ValueError: no number with such a unit, or not finite.
    """
    number, unit = _parts(_LATENCY, text, "a latency", "'5 us'")
    seconds = float(number) / _PER_SECOND[unit]
    if not isfinite(seconds):
        raise ValueError(f"{text!r} is not a finite latency")
    return seconds


def gibibytes(size_bytes: float) -> str:
    """Bytes as they are shown to people, ``32 GiB``."""
    return f"{size_bytes / 1024**3:.10g} GiB"


def _parts(pattern: re.Pattern[str], text: str, kind: str, example: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not {kind} with its unit; write it like {example}")
    return match.groups()


def _scale(prefix: str, binary: str) -> float:
    return float((1024 if binary else 1000) ** _POWER[prefix])


def _positive(value: float, text: str) -> float:
    if not isfinite(value) or value <= 0:
        raise ValueError(f"{text!r} must be positive and finite")
    return value
