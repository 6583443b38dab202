"""The arrays of a state as compiled code sees them: an address, a length and a width.

An index counts from the front, always: numba's own arrays count a negative one from the end, and the test for it took
a fifth of the loop's time. So none may be used; with the JIT off it is an error. What the compiler cannot see it is
told here: that no two fields of records lie in the same place, and what will be asked for soon.
"""

import hashlib
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.extending import register_model
from numba.core.imputils import lower_builtin, lower_getattr, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic

from pointsman.inputs.did_you_mean import nearest

DIRECTORY_WORDS = 3
"""Words of the directory for each array: its address, length and width."""
CACHE_LINE = 64
_TO_READ, _KEEP, _DATA = 0, 3, 1
"""What the processor is told of a prefetch."""


class Fields(types.Record):  # type: ignore[misc]
    """A record; a store to one of its fields leaves all other fields, of whatever record, as they were read."""

    @property
    def short_name(self) -> str:
        """Digest of the fields, 12 hexadecimal digits: records have the same one only if they have the same fields."""
        return hashlib.sha256(self.name.encode()).hexdigest()[:12]

    @property
    def mangling_args(self) -> tuple[str, tuple[int]]:
        """What symbols have of it. numba has the number of types in this process, so that two processes that compile
        a helper at once would name it differently, and one of them not find it.
        """
        return "Fields", (int(self.short_name, 16),)

    def typeof(self, key: str) -> Any:
        """The type of a field.

        Raises:
            TypingError: there is none of this name; Numba adds the line.
        """
        if key not in self.fields:
            near = nearest(key, self.fields)
            hint = f"; did you mean {near!r}?" if near else ""
            raise TypingError(f"AttributeError: the record has no field {key!r}{hint}")
        return super().typeof(key)


register_model(Fields)(models.RecordModel)


def mark_apart(builder: Any, access: Any, name: str) -> None:
    """Only accesses of this name touch the same memory (for LLVM's type-based alias analysis)."""
    zero, module = ir.IntType(64)(0), builder.module
    kind = module.add_metadata([name, module.add_metadata(["pointsman"]), zero])
    access.set_metadata("tbaa", module.add_metadata([kind, kind, zero]))


def _field(context: Any, builder: Any, kind: Fields, record: Any, name: str) -> Any:
    return cgutils.get_record_member(builder, record, kind.offset(name), context.get_data_type(kind.typeof(name)))


@lower_getattr_generic(Fields)
def get_field(context: Any, builder: Any, kind: Fields, record: Any, name: str) -> Any:
    """The value of a field."""
    value = builder.load(_field(context, builder, kind, record, name))
    mark_apart(builder, value, f"{kind.short_name}.{name}")
    return context.data_model_manager[kind.typeof(name)].from_data(builder, value)


@lower_setattr_generic(Fields)
def set_field(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    """Write a field."""
    kind, given = sig.args
    value = context.cast(builder, args[1], given, kind.typeof(name))
    data = context.data_model_manager[kind.typeof(name)].as_data(builder, value)
    mark_apart(builder, builder.store(data, _field(context, builder, kind, args[0], name)), f"{kind.short_name}.{name}")


class Rows(types.Type):  # type: ignore[misc]
    """An array of records or numbers of one or two dimensions."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.index = types.int64 if ndim == 1 else types.UniTuple(types.int64, 2)
        super().__init__(name=f"Rows({dtype}, {ndim})")


@register_model(Rows)
class _RowsModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Rows) -> None:
        members = [("data", types.CPointer(kind.dtype)), ("rows", types.int64), ("width", types.int64)]
        super().__init__(manager, kind, members)


@infer_global(operator.getitem)
class _Get(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        rows, _ = args
        return signature(rows.dtype, rows, rows.index) if isinstance(rows, Rows) else None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        rows, _, _ = args
        return signature(types.none, rows, rows.index, rows.dtype) if isinstance(rows, Rows) else None


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = Rows

    def resolve_shape(self, rows: Rows) -> Any:
        return types.UniTuple(types.int64, rows.ndim)


@lower_getattr(Rows, "shape")
def _shape(context: Any, builder: Any, kind: Rows, value: Any) -> Any:
    rows = cgutils.create_struct_proxy(kind)(context, builder, value)
    lengths = [rows.rows, rows.width][: kind.ndim]
    return context.make_tuple(builder, types.UniTuple(types.int64, kind.ndim), lengths)


def place_of(context: Any, builder: Any, kind: Rows, value: Any, index: Any) -> Any:
    """A pointer to the element at `index`."""
    rows = cgutils.create_struct_proxy(kind)(context, builder, value)
    if kind.ndim == 2:
        i, k = cgutils.unpack_tuple(builder, index, 2)
        index = builder.add(builder.mul(i, rows.width), k)
    return builder.gep(rows.data, [index], inbounds=True)


@lower_builtin(operator.getitem, Rows, types.Any)
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = place_of(context, builder, sig.args[0], args[0], args[1])
    if isinstance(sig.return_type, types.Record):
        return builder.bitcast(at, context.get_value_type(sig.return_type))
    value = builder.load(at)
    mark_apart(builder, value, str(sig.return_type))
    return value


@lower_builtin(operator.setitem, Rows, types.Any, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = place_of(context, builder, sig.args[0], args[0], args[1])
    if isinstance(sig.args[2], types.Record):
        context.pack_value(builder, sig.args[2], args[2], at)
    else:
        mark_apart(builder, builder.store(args[2], at), str(sig.args[2]))
    return context.get_dummy_value()


@intrinsic
def prefetch(typingctx: Any, rows: Any, index: Any) -> Any:
    """Have the record at an index brought near, for it will be asked for soon."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = sig.args[0]
        at = builder.bitcast(place_of(context, builder, kind, *args), ir.IntType(8).as_pointer())
        told = [ir.IntType(32)(x) for x in (_TO_READ, _KEEP, _DATA)]
        fetch_type = ir.FunctionType(ir.VoidType(), [at.type, *(x.type for x in told)])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", (at.type,), fetch_type)
        for begin in range(0, kind.dtype.size, CACHE_LINE):
            builder.call(fetch, [builder.gep(at, [ir.IntType(64)(begin)]), *told])
        return context.get_dummy_value()

    return types.none(rows, types.int64), codegen


def rows_type(dtype: np.dtype[Any], ndim: int) -> Rows:
    """The type of arrays of `dtype`."""
    from numba import from_dtype

    kind = from_dtype(dtype)
    if isinstance(kind, types.Record):
        kind = Fields([(n, f._asdict()) for n, f in kind.fields.items()], kind.size, kind.aligned)
    return Rows(kind, ndim)


class Directory(types.Type):  # type: ignore[misc]
    """Arrays behind the address of a directory of them. A value of this type is the address alone, so that passing it
    on costs nothing; an array is opened where it is asked for.
    """

    def __init__(self, name: str, arrays: dict[str, Rows], first: int) -> None:
        self.arrays = arrays
        self.place = {key: first + k for k, key in enumerate(arrays)}
        super().__init__(name=f"Directory({name})")


@register_model(Directory)
class _DirectoryModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Directory) -> None:
        super().__init__(manager, kind, ir.IntType(64).as_pointer())


@infer_getattr
class _DirectoryAttributes(AttributeTemplate):  # type: ignore[misc]
    key = Directory

    def generic_resolve(self, kind: Directory, attr: str) -> Any:
        return kind.arrays.get(attr)


@lower_getattr_generic(Directory)
def get_array(context: Any, builder: Any, kind: Directory, directory: Any, name: str) -> Any:
    """An array of a directory, opened."""
    array = kind.arrays[name]
    rows = cgutils.create_struct_proxy(array)(context, builder)
    words = [_word(builder, directory, DIRECTORY_WORDS * kind.place[name] + n) for n in range(1 + array.ndim)]
    rows.data = builder.inttoptr(words[0], rows.data.type)
    rows.rows, rows.width = words[1], words[-1]
    return rows._getvalue()


def _word(builder: Any, directory: Any, n: int) -> Any:
    """Word `n` of a directory, which is not written while compiled code runs: LLVM may load it once for all."""
    word = builder.load(builder.gep(directory, [ir.IntType(64)(n)], inbounds=True))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def directory_type(name: str, arrays: dict[str, tuple[np.dtype[Any], int]], first: int) -> Directory:
    """The type of a directory's part of these arrays, (dtype, dimensions) by name, the first at place `first`."""
    return Directory(name, {key: rows_type(dtype, ndim) for key, (dtype, ndim) in arrays.items()}, first)
