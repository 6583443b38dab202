"""How Python calls an exported function: a wrapper in IR that takes Python's objects and answers one, of Python's
stable ABI alone, so that the same machine code serves every version.

An argument is a number, or an array by the buffer protocol, C-contiguous and writable.
"""

from typing import Any

from llvmlite import ir
from numba.core import types

from pointsman.engine.jit.units import wrapper_of

_POINTER = ir.IntType(8).as_pointer()
_I8, _I32, _I64, _F64, _VOID = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType(), ir.VoidType()
_BUFFER = ir.LiteralStructType(
    [_POINTER, _POINTER, _I64, _I64, _I32, _I32, _POINTER, *[_I64.as_pointer()] * 3, _POINTER]
)
"""``Py_buffer``."""
_DATA, _OWNER, _DIMENSIONS, _FORMAT, _SHAPE = 0, 1, 5, 6, 7
_ASKED = 0x38 | 0x04 | 0x01
"""``PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE``."""
_FORMATS = {types.int64: "lq", types.float64: "d", types.float32: "f", types.int8: "b"}
"""What the buffer protocol calls the elements of arrays."""


class Wrapper:
    """``PyObject *py.SYMBOL(PyObject *module, PyObject *const *args, Py_ssize_t count)`` (METH_FASTCALL)."""

    def __init__(self, context: Any, module: Any, callee: Any, signature: Any, *, releases_gil: bool) -> None:
        """Write the wrapper of `callee`, whose arguments and answer have the types of Numba's `signature`."""
        self._context, self._module, self._callee, self._signature = context, module, callee, signature
        kind = ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _I64])
        self._function = ir.Function(module, kind, wrapper_of(callee.name))
        self._builder = ir.IRBuilder(self._function.append_basic_block())
        self._wrong, self._failed = (self._function.append_basic_block(name) for name in ("wrong", "failed"))
        self._buffers = [self._builder.alloca(_BUFFER) for kind in signature.args if isinstance(kind, types.Array)]
        for buffer in self._buffers:
            self._builder.store(_POINTER(None), self._field(buffer, _OWNER))  # releasing such a one does nothing
        self._body(releases_gil)
        self._failures()

    def _body(self, releases_gil: bool) -> None:
        builder, kinds, buffers = self._builder, self._signature.args, iter(self._buffers)
        self._go_on_if(builder.icmp_signed("==", self._function.args[2], _I64(len(kinds))), self._wrong)
        args = [
            self._array(k, kind, next(buffers)) if isinstance(kind, types.Array) else self._number(k, kind)
            for k, kind in enumerate(kinds)
        ]
        thread = self._call("PyEval_SaveThread", _POINTER) if releases_gil else None
        answer = builder.call(self._callee, args)
        if thread is not None:
            self._call("PyEval_RestoreThread", _VOID, thread)
        self._release()
        builder.ret(self._object_of(answer))

    def _failures(self) -> None:
        self._builder.position_at_end(self._wrong)
        self._call("PyErr_BadArgument", _VOID)  # Numba gives `PyExc_TypeError` another sense
        self._builder.branch(self._failed)
        self._builder.position_at_end(self._failed)
        self._release()
        self._builder.ret(_POINTER(None))

    def _release(self) -> None:
        for buffer in self._buffers:
            self._call("PyBuffer_Release", _VOID, buffer)

    def _argument(self, k: int) -> Any:
        return self._builder.load(self._builder.gep(self._function.args[1], [_I64(k)]))

    def _number(self, k: int, kind: Any) -> Any:
        """Argument `k`, an integer, a float or the address of a state."""
        builder = self._builder
        if kind == types.float64:
            value = self._call("PyFloat_AsDouble", _F64, self._argument(k))
            may_have_failed = builder.fcmp_ordered("==", value, _F64(-1.0))
        else:
            value = self._call("PyLong_AsLongLong", _I64, self._argument(k))
            may_have_failed = builder.icmp_signed("==", value, _I64(-1))
        with builder.if_then(may_have_failed, likely=False):
            error = builder.ptrtoint(self._call("PyErr_Occurred", _POINTER), _I64)
            self._go_on_if(builder.icmp_unsigned("==", error, _I64(0)), self._failed)
        wanted = self._context.get_value_type(kind)
        return builder.inttoptr(value, wanted) if isinstance(wanted, ir.PointerType) else value

    def _array(self, k: int, kind: Any, buffer: Any) -> Any:
        """Argument `k`, an array, as Numba has it."""
        builder = self._builder
        got = self._call("PyObject_GetBuffer", _I32, self._argument(k), buffer, _I32(_ASKED))
        self._go_on_if(builder.icmp_signed("==", got, _I32(0)), self._failed)
        dimensions = builder.load(self._field(buffer, _DIMENSIONS))
        self._go_on_if(builder.icmp_signed("==", dimensions, _I32(kind.ndim)), self._wrong)
        told = builder.load(builder.load(self._field(buffer, _FORMAT)))
        right = [builder.icmp_signed("==", told, _I8(ord(letter))) for letter in _FORMATS[kind.dtype]]
        self._go_on_if(builder.or_(right[0], right[-1]), self._wrong)
        return self._struct(kind, buffer)

    def _struct(self, kind: Any, buffer: Any) -> Any:
        """Numba's array of this kind on the data of a buffer."""
        builder, array = self._builder, self._context.make_array(kind)(self._context, self._builder)
        shape = builder.load(self._field(buffer, _SHAPE))
        lengths = [builder.load(builder.gep(shape, [_I64(d)])) for d in range(kind.ndim)]
        stride = _I64(kind.dtype.bitwidth // 8)
        strides: list[Any] = []
        items: Any = _I64(1)
        for length in reversed(lengths):
            strides.insert(0, stride)
            stride, items = builder.mul(stride, length), builder.mul(items, length)
        array.data = builder.bitcast(builder.load(self._field(buffer, _DATA)), array.data.type)
        array.nitems, array.itemsize = items, _I64(kind.dtype.bitwidth // 8)
        sizes = types.UniTuple(types.int64, kind.ndim)
        array.shape = self._context.make_tuple(builder, sizes, lengths)
        array.strides = self._context.make_tuple(builder, sizes, strides)
        return array._getvalue()

    def _object_of(self, answer: Any) -> Any:
        kind, builder = self._signature.return_type, self._builder
        if kind == types.float64:
            return self._call("PyFloat_FromDouble", _POINTER, answer)
        if kind == types.boolean:
            return self._call("PyBool_FromLong", _POINTER, builder.zext(answer, _I64))
        return self._call("PyLong_FromLongLong", _POINTER, answer)

    def _go_on_if(self, right: Any, else_to: Any) -> None:
        block = self._function.append_basic_block()
        self._builder.cbranch(right, block, else_to)
        self._builder.position_at_end(block)

    def _field(self, buffer: Any, number: int) -> Any:
        return self._builder.gep(buffer, [_I32(0), _I32(number)])

    def _call(self, name: str, answer: Any, *args: Any) -> Any:
        kind = ir.FunctionType(answer, [each.type for each in args])
        return self._builder.call(self._declared(name, kind), args)

    def _declared(self, name: str, kind: Any) -> Any:
        return self._module.globals.get(name) or ir.Function(self._module, kind, name)
