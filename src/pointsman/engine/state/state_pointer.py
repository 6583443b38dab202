"""A state as one integer: the address of a directory of its arrays.

Compiled code called from Python takes this handle and opens it, 0.2 µs a call instead of 4-18 µs for a NamedTuple of
arrays. With
the JIT off the handle is looked up in a dictionary.
"""

from typing import Any

import numpy as np

from pointsman.engine.jit.compile import ARGUMENTS, BY_ADDRESS
from pointsman.engine.jit.mode import AS_PYTHON, COMPILING
from pointsman.engine.state.records import (
    ALT,
    BUCKET,
    CHAIN,
    CLASS,
    CLOCK,
    CROSSING,
    FACTOR,
    FLOW,
    GPU,
    GROUP,
    HEAP,
    JOB,
    LINK,
    LOG,
    MODEL,
    NIC,
    NODE,
    OUTCOME,
    PART,
    POD,
    POOL,
    QUEUE,
    RACK,
    RATE_STEP,
    REACH,
    SAMPLE,
    SCALARS,
    SCRIPT,
    SPEED,
    STEP,
    SUBBATCH,
    TRACE,
    TRANSFER,
    TRUTH,
    UPLINK,
    State,
    World,
)

_INT, _FLOAT = np.dtype("i8"), np.dtype("f8")
STATE_ARRAYS = {
    "g": (SCALARS, 1), "jobs": (JOB, 1), "nodes": (NODE, 1), "gpus": (GPU, 1), "occupants": (_INT, 2),
    "pools": (POOL, 1), "racks": (RACK, 1), "pods": (POD, 1), "rack_free": (_INT, 2), "counts": (_INT, 2),
    "words": (_INT, 1),
    "ints": (_INT, 1), "classes": (CLASS, 1), "alts": (ALT, 1), "groups": (GROUP, 1),
    "reaches": (REACH, 1), "queues": (QUEUE, 1),
    "buckets": (BUCKET, 1), "parts": (PART, 1), "lists": (_INT, 2), "place": (PART, 1), "reserve": (PART, 1),
    "freed": (PART, 1), "claims": (PART, 1), "log": (LOG, 1), "speed_log": (SPEED, 1), "inbox": (_INT, 2),
    "params": (_FLOAT, 1), "memory": (_FLOAT, 1), "job_numbers": (_FLOAT, 2),
    "rates": (_FLOAT, 2), "models": (MODEL, 1), "links": (LINK, 1),
    "flows": (FLOW, 1), "uplinks": (UPLINK, 1), "crossings": (CROSSING, 1), "changed_uplinks": (_INT, 1),
    "steps": (STEP, 1),
    "workers": (_INT, 2), "transfers": (TRANSFER, 1), "nics": (NIC, 1),
    "subbatches": (SUBBATCH, 1), "slowdowns": (_FLOAT, 2),
    "factors": (FACTOR, 1), "factor_numbers": (_FLOAT, 1), "factor_loads": (_INT, 1), "singles": (_INT, 1),
    "goodputs": (_FLOAT, 2), "rate_steps": (RATE_STEP, 2),
    "told_rates": (_FLOAT, 2), "told_goodputs": (_FLOAT, 2), "told_slowdowns": (_FLOAT, 2),
    "history": (_FLOAT, 1), "history_keys": (_INT, 2), "history_features": (_FLOAT, 2),
}  # fmt: skip
WORLD_ARRAYS = {
    "clock": (CLOCK, 1), "truth": (TRUTH, 1), "chains": (CHAIN, 1), "heap": (HEAP, 1), "trace": (TRACE, 1),
    "script": (SCRIPT, 1), "outcomes": (OUTCOME, 1), "told_numbers": (_FLOAT, 2), "samples": (SAMPLE, 1),
}  # fmt: skip
if tuple(STATE_ARRAYS) != State._fields or tuple(WORLD_ARRAYS) != World._fields:
    raise AssertionError("state_pointer.py and records.py disagree on the arrays of the state")

ARGUMENTS["State"] = STATE_ARRAYS, WORLD_ARRAYS

_OPEN: dict[int, tuple[State, World]] = {}


class Handle:
    """Keeps the arrays of a state and its world alive and gives compiled code their address.

    `address` is valid as long as this object lives.
    """

    def __init__(self, state: State, world: World) -> None:
        arrays = [*state, *world]
        for array, (dtype, ndim) in zip(arrays, [*STATE_ARRAYS.values(), *WORLD_ARRAYS.values()], strict=True):
            if array.dtype != dtype or array.ndim != ndim or not array.flags.c_contiguous:
                raise AssertionError(
                    f"{array.dtype} array is not the contiguous {ndim}-dimensional {dtype} of the state"
                )
        if AS_PYTHON:
            state = State(*(_with_attributes(a) for a in state))
            world = World(*(_with_attributes(a) for a in world))
        self.state, self.world = state, world
        self._directory = np.array([(a.ctypes.data, a.shape[0], a.shape[-1]) for a in arrays], np.int64)
        self.address = self._directory.ctypes.data
        state.g["address"] = self.address
        if AS_PYTHON:
            _OPEN[self.address] = (state, world)

    def __del__(self) -> None:
        if AS_PYTHON:
            _OPEN.pop(getattr(self, "address", 0), None)

    @property
    def jobs(self) -> np.ndarray:
        """JOB, (slots used so far,); those with state 0 are empty."""
        return self.state.jobs[: int(self.state.g["slots"][0])]


class _FromTheFront(np.recarray):
    """An array with its fields as attributes, in which an index counts from the front, as in compiled code."""

    def __getitem__(self, index: Any) -> Any:
        if (index if isinstance(index, int | np.integer) else min(index) if _is_pair(index) else 0) < 0:
            raise IndexError(f"index {index} counts from the end")
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index]
        super().__setitem__(index, value)


def _is_pair(index: Any) -> bool:
    return isinstance(index, tuple) and all(isinstance(i, int | np.integer) for i in index)


def _with_attributes(array: np.ndarray) -> np.ndarray:
    return array.view(_FromTheFront)


if not COMPILING:

    def open_state(address: int) -> State:
        """The state behind a handle's address."""
        return _OPEN[address][0]

    def open_world(address: int) -> World:
        """The world behind a handle's address."""
        return _OPEN[address][1]

    def call_apart(function: int, address: int, what: int, j: int) -> int:
        """Call an exported function by what stands for its address."""
        return BY_ADDRESS[function](address, what, j)

    def prefetch(rows: np.ndarray, index: int) -> None:
        """Nothing, for nothing is gained by it here."""

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    from pointsman.engine.jit.compiling.lowering import TYPES
    from pointsman.engine.state.jit_arrays import directory_type
    from pointsman.engine.state.jit_arrays import prefetch as prefetch

    STATE_TYPE = directory_type("State", STATE_ARRAYS, 0)
    WORLD_TYPE = directory_type("World", WORLD_ARRAYS, len(STATE_ARRAYS))

    def _opener(kind: Any) -> Any:
        def open_directory(typingctx: Any, address: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.inttoptr(args[0], context.get_value_type(kind))

            return kind(types.int64), codegen

        return intrinsic(open_directory)

    @intrinsic
    def call_apart(typingctx: Any, function: Any, address: Any, what: Any, j: Any) -> Any:
        """Call an exported function by its address, of signature ``int64(int64, int64, int64)``."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            i64 = ir.IntType(64)
            kind = ir.FunctionType(i64, [i64, i64, i64])
            return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

        return types.int64(types.int64, types.int64, types.int64, types.int64), codegen

    TYPES["State"] = STATE_TYPE
    open_state = _opener(STATE_TYPE)
    open_world = _opener(WORLD_TYPE)
