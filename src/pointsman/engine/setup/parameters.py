"""A compiled policy's parameters as compiled code finds them: by name, from the fields of its configuration.

A field that is a number has its name there; of unit s, in whole ms (``quantum_s`` is ``P.quantum_ms``). What else is to
be there, a property that is `derived` says.
"""

import functools
import sys
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pointsman.engine.state.layouts import FLAG, NUMBER, WHOLE
from pointsman.engine.state.named import Declared, Record
from pointsman.engine.state.records import PARAMETERS
from pointsman.errors import UsageError

_KINDS = {bool: FLAG, int: WHOLE, float: NUMBER}
_IN_MS = {"s": ("_s", "_ms", WHOLE), "GPU-s": ("_gpu_s", "_gpu_ms", NUMBER)}
"""By the unit of a field: how its name ends, there and in compiled code, and its kind in compiled code."""


class derived(property):
    """A number that compiled code finds among the parameters, worked out of them. A subclass may have another one, or a
    constant (`ClassVar`) of the same name.
    """


def milliseconds(seconds: float) -> float:
    """Seconds as the engine's whole milliseconds."""
    return float(round(1000 * seconds))


@functools.cache
def record_of(policy: Any) -> type[Record]:
    """The record of the parameters of a class of policies: those of its base first, so that code of the base finds
    them.

    Raises:
        TypeError: it has several bases with parameters, or too many parameters.
    """
    bases = [base for base in policy.__bases__ if hasattr(base, "model_fields") and base.__module__ != "pydantic.main"]
    if len(bases) > 1:
        raise TypeError(f"{policy.__name__} derives from several policies, whose parameters cannot all come first")
    base = record_of(bases[0]) if bases else _Parameters
    new = {name: found for name, found in declared_parameters(policy) if not base.layout.has(name)}
    made = types.new_class(policy.__name__, (base,), exec_body=lambda body: body.update(new))
    if made.layout.width > PARAMETERS:
        raise TypeError(f"{policy.__name__} has {made.layout.width} numbers of parameters, more than {PARAMETERS}")
    return made


def numbers_of(policy: Any) -> list[float]:
    """The parameters of a policy, as compiled code finds them."""
    record = record_of(type(policy))
    made = record.zeros()
    view = record(made)
    fields = {_name(name, field): (name, field) for name, field in type(policy).model_fields.items()}
    for slot in record.layout.slots:
        if hasattr(type(policy), slot.name):  # no field: pydantic keeps these elsewhere
            setattr(view, slot.name, getattr(policy, slot.name))
        elif slot.shape == ():
            name, field = fields[slot.name]
            setattr(view, slot.name, _converted(field, getattr(policy, name)))
        else:
            name, field = fields[slot.name]
            values = [_converted(field, value) for value in getattr(policy, name)]
            getattr(view, slot.name).array[: len(values)] = values
    return made.tolist()


def choice(policy: Any, field: str, value: str) -> int:
    """What `value` of a field of some words (``Literal``) is in compiled code: its position among them.

    Raises:
        ValueError: it has no such word.
    """
    return get_args(policy.model_fields[field].annotation).index(value)


class _Parameters(Record):
    """What ``State.params`` begins with."""

    place = "params"
    __slots__ = ()


def declared_parameters(policy: Any) -> Iterator[tuple[str, Declared[Any]]]:
    """What one class adds: its fields that are numbers, then what it derives.

    Raises:
        UsageError: Python has removed the sentences that say what is derived.
    """
    if sys.flags.optimize > 1:
        raise UsageError("python -OO removes docstrings, which Pointsman reads: use -O (PYTHONOPTIMIZE=1) or neither")
    overriding = {name for base in policy.__mro__ for name, value in vars(base).items() if isinstance(value, derived)}
    for name in policy.__annotations__:
        field = policy.model_fields.get(name)
        if field is not None and (kind := _kind(field)) and _name(name, field) not in overriding:
            yield _name(name, field), Declared(kind, _shape(field), field.description or name, _unit(field))
    for name, value in vars(policy).items():
        if isinstance(value, derived):
            kind = _KINDS[get_type_hints(value.fget)["return"]]
            yield name, Declared(kind, (), value.__doc__ or "", "")


def _unit(field: Any) -> str:
    about = field.json_schema_extra
    return str(about.get("unit", "")) if isinstance(about, dict) else ""


def _element(annotation: Any) -> Any:
    """The type of a field, or of the members of a tuple."""
    if get_origin(annotation) is tuple:
        annotation = get_args(annotation)[0]
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _kind(field: Any) -> str | None:
    """None if a field is no number."""
    if _unit(field) in _IN_MS:
        return _IN_MS[_unit(field)][2]
    if get_origin(field.annotation) is Literal:
        return WHOLE
    return _KINDS.get(_element(field.annotation))


def _shape(field: Any) -> int | tuple[int, ...]:
    if get_origin(field.annotation) is not tuple:
        return ()
    for each in field.metadata:
        if hasattr(each, "max_length"):
            return each.max_length
    raise TypeError("a parameter of a compiled policy that is a tuple must state its most numbers: max_length=4")


def _name(name: str, field: Any) -> str:
    end, other, _ = _IN_MS.get(_unit(field), ("", "", ""))
    return name.removesuffix(end) + other if end and name.endswith(end) else name


def _converted(field: Any, value: Any) -> float:
    if _unit(field) in _IN_MS:
        return milliseconds(value)
    if get_origin(field.annotation) is Literal:
        return float(get_args(field.annotation).index(value))
    return float(value)
