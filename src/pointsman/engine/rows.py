"""The arrays of a state as compiled code sees them: an address, a length and a width.

An index counts from the front, always: numba's own arrays count a negative one from the end, and the test for it was
a fifth of all instructions of the loop. So nobody may use one; with the JIT off it is an error.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.extending import register_model
from numba.core.imputils import lower_builtin, lower_getattr
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic

FIELDS = 3
"""Words of the directory for each array: address, length, width."""


CACHE_LINE = 64
_TO_READ, _KEEP, _DATA = 0, 3, 1
"""What the processor is told of a prefetch."""


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


def _place(context: Any, builder: Any, kind: Rows, value: Any, index: Any) -> Any:
    """A pointer to the element at `index`."""
    rows = cgutils.create_struct_proxy(kind)(context, builder, value)
    if kind.ndim == 2:
        i, k = cgutils.unpack_tuple(builder, index, 2)
        index = builder.add(builder.mul(i, rows.width), k)
    return builder.gep(rows.data, [index], inbounds=True)


@lower_builtin(operator.getitem, Rows, types.Any)
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = _place(context, builder, sig.args[0], args[0], args[1])
    if isinstance(sig.return_type, types.Record):
        return builder.bitcast(at, context.get_value_type(sig.return_type))
    return context.unpack_value(builder, sig.return_type, at)


@lower_builtin(operator.setitem, Rows, types.Any, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = _place(context, builder, sig.args[0], args[0], args[1])
    context.pack_value(builder, sig.args[2], args[2], at)
    return context.get_dummy_value()


def _prefetcher(most_lines: int) -> Any:
    def prefetch(typingctx: Any, rows: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = sig.args[0]
            at = builder.bitcast(_place(context, builder, kind, *args), ir.IntType(8).as_pointer())
            told = [ir.IntType(32)(x) for x in (_TO_READ, _KEEP, _DATA)]
            fetch_type = ir.FunctionType(ir.VoidType(), [at.type, *(x.type for x in told)])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", (at.type,), fetch_type)
            for begin in range(0, min(kind.dtype.size, most_lines * CACHE_LINE), CACHE_LINE):
                builder.call(fetch, [builder.gep(at, [ir.IntType(64)(begin)]), *told])
            return context.get_dummy_value()

        return types.none(rows, types.int64), codegen

    return intrinsic(prefetch)


prefetch = _prefetcher(1 << 10)
"""Have the record at an index brought near, for it will be asked for soon."""
prefetch_first_line = _prefetcher(1)
"""Have the beginning of the record at an index brought near."""


def opened(context: Any, builder: Any, kind: Rows, directory: Any, k: int) -> Any:
    """The array at place `k` of a directory."""
    i64 = ir.IntType(64)
    words = [builder.load(builder.gep(directory, [ir.Constant(i64, FIELDS * k + n)])) for n in range(FIELDS)]
    rows = cgutils.create_struct_proxy(kind)(context, builder)
    rows.data = builder.inttoptr(words[0], rows.data.type)
    rows.rows, rows.width = words[1], words[2]
    return rows._getvalue()


def rows_type(dtype: np.dtype[Any], ndim: int) -> Rows:
    """The type of arrays of `dtype`."""
    from numba import from_dtype

    return Rows(from_dtype(dtype), ndim)
