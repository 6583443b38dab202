"""Types of options: the ways in which a value may be written, and its limits."""

from collections.abc import Callable
from importlib import import_module
from operator import index
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema

from pointsman.errors import UsageError
from pointsman.inputs.bounds import LOADS, MAX_LOAD, MIN_LOAD, SEEDS
from pointsman.inputs.durations import parse_duration_s
from pointsman.types import MAX_SHARING

Params = dict[str, Any]
MOST_DURATION_S = 86_400.0


def parsed_by(where: str) -> AfterValidator:
    """Text that the function ``module:name`` reads without a `UsageError`; it is loaded when it is needed."""

    def checked(text: str) -> str:
        module, _, name = where.partition(":")
        try:
            getattr(import_module(module), name)(text)
        except UsageError as error:
            raise ValueError(str(error)) from None
        return text

    return AfterValidator(checked)


def no_switch(value: Any) -> Any:
    """The value, unless it is true or false.

    Raises:
        ValueError: it is.
    """
    if isinstance(value, bool):  # which Python takes for 0 or 1
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


def _as_whole(value: Any) -> Any:
    """Any kind of whole number, NumPy's among them."""
    return index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else no_switch(value)


def _as_list(value: Any) -> Any:
    return [_as_text(each) for each in value] if isinstance(value, list | tuple) else [_as_text(value)]


def as_list(value: Any) -> Any:
    """One value is a list of one; a range or an array is a list of numbers."""
    found = value.tolist() if hasattr(value, "tolist") else value
    return list(found) if isinstance(found, list | tuple | range) else [found]


def once_each(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, all different.

    Raises:
        ValueError: one is there twice.
    """
    for i, value in enumerate(values):
        if value in values[:i]:
            raise ValueError(f"{getattr(value, 'name', value)} is given twice")
    return values


def one_or_several(values: Any, written: Callable[[Any], Any]) -> Any:
    """As a file has it: one value by itself, several as a list."""
    listed = written(values)
    return listed[0] if len(listed) == 1 else listed


def _as_paths(value: Any) -> Any:
    paths = value if isinstance(value, list | tuple) else [value]
    if "" in paths:
        raise ValueError("must name a file")
    return [str(path) if isinstance(path, Path) else path for path in paths]


def _as_costs(value: Any) -> Any:
    """An `Overheads` is its costs."""
    return value.model_dump() if isinstance(value, BaseModel) else value


def _as_window(value: Any) -> Any:
    return parse_window_s(value) if isinstance(value, str) else value


def _begins_before_it_ends(window: tuple[float, float]) -> tuple[float, float]:
    if not 0.0 <= window[0] <= window[1]:
        raise ValueError("must be two times in seconds from 0, the first not after the second")
    return window


def _in_range(load: float) -> float:
    if not MIN_LOAD <= load <= MAX_LOAD:
        raise ValueError(LOADS)
    return load


def _as_text(value: Any) -> Any:
    """A number may be written as such."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_duration(value: str | float) -> float:
    seconds = parse_duration_s(value) if isinstance(value, str) else value
    if not 0 <= seconds <= MOST_DURATION_S:
        raise ValueError(f"must be from 0 to {MOST_DURATION_S:g} s")
    return seconds


def parse_window_s(text: str) -> tuple[float, float]:
    """Seconds of ``FROM:TO``, each a duration since the first submit; either may be left out.

    Slurm's notation has colons of its own, so it cannot be used here.

    Raises:
        ValueError: no such pair.
    """
    if text.count(":") != 1:
        raise ValueError(f"{text!r} is no window; write it FROM:TO, like 1d:8d or 12h:")
    start, end = (part.strip() for part in text.split(":"))
    window = parse_duration_s(start) if start else 0.0, parse_duration_s(end) if end else float("inf")
    if window[1] < window[0]:
        raise ValueError(f"the window {text!r} ends before it begins")
    return window


Seed = Annotated[int, Field(ge=0, lt=SEEDS), BeforeValidator(_as_whole)]
Factor = Annotated[float, Field(ge=1, le=1e6, allow_inf_nan=False), BeforeValidator(no_switch)]
Sigma = Annotated[float, Field(ge=0, lt=10, allow_inf_nan=False), BeforeValidator(no_switch)]
Load = Annotated[
    float,
    BeforeValidator(no_switch),
    AfterValidator(_in_range),
    WithJsonSchema({"type": "number", "minimum": MIN_LOAD, "maximum": MAX_LOAD}),
]
JobsOfGpu = Annotated[int, Field(ge=1, le=MAX_SHARING), BeforeValidator(_as_whole)]
Duration = Annotated[str | float, BeforeValidator(no_switch), AfterValidator(_as_duration)]
"""Seconds, which may be written as ``2.5ms``."""
Paths = Annotated[tuple[str, ...], BeforeValidator(_as_paths)]
Costs = Annotated[str | dict[str, bool | float], BeforeValidator(_as_costs)]
Interference = Annotated[str, BeforeValidator(_as_text)]
Filters = dict[str, Annotated[tuple[str, ...], BeforeValidator(_as_list, json_schema_input_type=list[str] | str)]]
Window = Annotated[
    tuple[float, float],
    BeforeValidator(_as_window, json_schema_input_type=tuple[float, float] | str),
    AfterValidator(_begins_before_it_ends),
]
