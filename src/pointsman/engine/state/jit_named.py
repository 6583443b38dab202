"""Records of named numbers as compiled code sees them: an address, at which a name is a constant distance.

A name is an alias of the number, or the field, at its place: it is read and written as that is, by the same marks for
LLVM, and costs the same.
"""

import hashlib
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.extending import register_model
from numba.core.imputils import lower_builtin, lower_getattr, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature

from pointsman.engine.state.jit_arrays import Directory, get_array, get_field, mark_apart, place_of, set_field
from pointsman.engine.state.layouts import BITS, FLAG, NUMBER, OPEN, WHOLE, Layout, Slot
from pointsman.inputs.did_you_mean import did_you_mean

_TYPES = {WHOLE: types.int64, BITS: types.int64, FLAG: types.boolean}
_I64, _ONE = ir.IntType(64), ir.DoubleType()


class View(types.Type):  # type: ignore[misc]
    """A record of named numbers: the address of the first."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        super().__init__(name=f"View({layout.name}, {_digest(layout)})")


class KeptView(types.Type):  # type: ignore[misc]
    """A record of the state some of whose fields have names: its address."""

    def __init__(self, layout: Layout, fields: tuple[str, ...], record: Any) -> None:
        self.layout, self.record = layout, record
        self.field = {slot.name: (fields[slot.at], slot.kind) for slot in layout.slots}
        super().__init__(name=f"KeptView({layout.name}, {_digest(layout)}, {fields})")


class Elements(types.Type):  # type: ignore[misc]
    """An array of a record: the address of its first number, and its length."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.dtype = _element(slot)
        self.ndim = len(slot.shape)
        self.index = types.int64 if self.ndim == 1 else types.UniTuple(types.int64, 2)
        super().__init__(name=f"Elements({slot.kind}, {slot.shape}, {self.dtype})")


def _check_declared(layout: Layout, name: str) -> None:
    """Say so where a record has no such name; Numba adds the line to an error of its own."""
    if not layout.has(name):
        known = did_you_mean(name, (slot.name for slot in layout.slots))
        raise TypingError(f"AttributeError: {layout.name} declares no {name!r} ({known})")


def _digest(layout: Layout) -> str:
    return hashlib.sha256(repr(layout).encode()).hexdigest()[:12]


def _all(layout: Layout) -> Slot:
    """All numbers of a record, as an array of it."""
    return Slot("as_numbers", 0, NUMBER, (layout.width,), None)


def _element(slot: Slot) -> Any:
    return View(slot.inner) if slot.inner else _TYPES.get(slot.kind, types.float64)


@register_model(View)
class _ViewModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: View) -> None:
        super().__init__(manager, kind, _ONE.as_pointer())


@register_model(KeptView)
class _KeptViewModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: KeptView) -> None:
        super().__init__(manager, kind, manager.lookup(kind.record).get_value_type())


@register_model(Elements)
class _ElementsModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Elements) -> None:
        super().__init__(manager, kind, [("data", types.CPointer(types.float64)), ("length", types.int64)])


def _load(builder: Any, at: Any, kind: str) -> Any:
    """The number at an address, as its kind."""
    value = builder.load(at)
    mark_apart(builder, value, str(types.float64))
    return _as_kind(builder, value, kind)


def _load_fixed(builder: Any, at: Any) -> Any:
    """Where an open array begins, or its length: not written while compiled code runs, so LLVM may load it once."""
    value = builder.load(at)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return _as_kind(builder, value, WHOLE)


def _as_kind(builder: Any, value: Any, kind: str) -> Any:
    if kind == WHOLE:
        return builder.fptosi(value, _I64)
    if kind == FLAG:
        return builder.fcmp_unordered("!=", value, _ONE(0.0))
    return builder.bitcast(value, _I64) if kind == BITS else value


def _as_number(builder: Any, value: Any, kind: str) -> Any:
    if kind == WHOLE:
        return builder.sitofp(value, _ONE)
    if kind == FLAG:
        return builder.uitofp(value, _ONE)
    return builder.bitcast(value, _ONE) if kind == BITS else value


def _store(builder: Any, at: Any, value: Any, kind: str) -> None:
    mark_apart(builder, builder.store(_as_number(builder, value, kind), at), str(types.float64))


def _beyond(builder: Any, at: Any, distance: Any) -> Any:
    return builder.gep(at, [_I64(distance) if isinstance(distance, int) else distance], inbounds=True)


@infer_getattr
class _ViewNames(AttributeTemplate):  # type: ignore[misc]
    key = View

    def generic_resolve(self, kind: View, attr: str) -> Any:
        if attr == "as_numbers":
            return Elements(_all(kind.layout))
        _check_declared(kind.layout, attr)
        slot = kind.layout.slot(attr)
        return _element(slot) if slot.shape == () else Elements(slot)


@lower_getattr_generic(View)
def _get_name(context: Any, builder: Any, kind: View, view: Any, name: str) -> Any:
    slot = _all(kind.layout) if name == "as_numbers" else kind.layout.slot(name)
    at = _beyond(builder, view, slot.at)
    if slot.shape == ():
        return at if slot.inner else _load(builder, at, slot.kind)
    elements = cgutils.create_struct_proxy(Elements(slot))(context, builder)
    if slot.shape == (OPEN,):
        elements.data = _beyond(builder, view, _load_fixed(builder, at))
        elements.length = _load_fixed(builder, _beyond(builder, at, 1))
    else:
        elements.data, elements.length = at, _I64(slot.shape[0])
    return elements._getvalue()


@lower_setattr_generic(View)
def _set_name(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    slot = sig.args[0].layout.slot(name)
    if sig.args[0].layout.place == "params":
        raise TypingError(f"AttributeError: parameters are not to be written, and {name!r} is one")
    value = context.cast(builder, args[1], sig.args[1], _element(slot))
    _store(builder, _beyond(builder, args[0], slot.at), value, slot.kind)


@infer_getattr
class _KeptNames(AttributeTemplate):  # type: ignore[misc]
    key = KeptView

    def generic_resolve(self, kind: KeptView, attr: str) -> Any:
        _check_declared(kind.layout, attr)
        return _TYPES.get(kind.field[attr][1], types.float64)


@lower_getattr_generic(KeptView)
def _get_kept(context: Any, builder: Any, kind: KeptView, view: Any, name: str) -> Any:
    field, of = kind.field[name]
    return _as_kind(builder, get_field(context, builder, kind.record, view, field), of)


@lower_setattr_generic(KeptView)
def _set_kept(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    kind, given = sig.args
    field, of = kind.field[name]
    value = context.cast(builder, args[1], given, _TYPES.get(of, types.float64))
    written = signature(types.none, kind.record, types.float64)
    set_field(context, builder, written, [args[0], _as_number(builder, value, of)], field)


@infer_global(operator.getitem)
class _Get(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        array, _ = args
        return signature(array.dtype, array, array.index) if isinstance(array, Elements) else None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        array, _, _ = args
        if not isinstance(array, Elements) or isinstance(array.dtype, View):
            return None
        return signature(types.none, array, array.index, array.dtype)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = Elements

    def resolve_shape(self, array: Elements) -> Any:
        return types.UniTuple(types.int64, array.ndim)


@lower_getattr(Elements, "shape")
def _shape(context: Any, builder: Any, kind: Elements, value: Any) -> Any:
    array = cgutils.create_struct_proxy(kind)(context, builder, value)
    lengths = [array.length, *map(_I64, kind.slot.shape[1:])]
    return context.make_tuple(builder, types.UniTuple(types.int64, kind.ndim), lengths)


def _element_at(context: Any, builder: Any, kind: Elements, value: Any, index: Any) -> Any:
    """The address of an element."""
    if kind.ndim == 2:
        i, k = cgutils.unpack_tuple(builder, index, 2)
        index = builder.add(builder.mul(i, _I64(kind.slot.shape[1])), k)
    if kind.slot.width != 1:
        index = builder.mul(index, _I64(kind.slot.width))
    return _beyond(builder, cgutils.create_struct_proxy(kind)(context, builder, value).data, index)


@lower_builtin(operator.getitem, Elements, types.Any)
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = _element_at(context, builder, sig.args[0], args[0], args[1])
    return at if isinstance(sig.return_type, View) else _load(builder, at, sig.args[0].slot.kind)


@lower_builtin(operator.setitem, Elements, types.Any, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = _element_at(context, builder, sig.args[0], args[0], args[1])
    _store(builder, at, args[2], sig.args[0].slot.kind)
    return context.get_dummy_value()


def teach_view(opening: Callable[..., Any], layout: Layout) -> None:
    """Have compiled code call `opening`, with a state, to have this record of it."""

    class _Open(AbstractTemplate):  # type: ignore[misc]
        key = opening

        def generic(self, args: Any, kws: Any) -> Any:
            return signature(View(layout), *args) if len(args) == 1 and isinstance(args[0], Directory) else None

    infer_global(opening, types.Function(_Open))

    @lower_builtin(opening, Directory)
    def _open(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = get_array(context, builder, sig.args[0], args[0], layout.place)
        rows = sig.args[0].arrays[layout.place]
        return cgutils.create_struct_proxy(rows)(context, builder, array).data


def teach_kept(opening: Callable[..., Any], layout: Layout, fields: tuple[str, ...]) -> None:
    """Have compiled code call `opening`, with a state and the number of a job, node or GPU, to have what is kept of
    it.
    """

    class _Open(AbstractTemplate):  # type: ignore[misc]
        key = opening

        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != 2 or not isinstance(args[0], Directory):
                return None
            return signature(KeptView(layout, fields, args[0].arrays[layout.place].dtype), args[0], types.int64)

    infer_global(opening, types.Function(_Open))

    @lower_builtin(opening, Directory, types.Integer)
    def _open(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = sig.args[0].arrays[layout.place]
        array = get_array(context, builder, sig.args[0], args[0], layout.place)
        at = place_of(context, builder, rows, array, args[1])
        return builder.bitcast(at, context.get_value_type(sig.return_type))
