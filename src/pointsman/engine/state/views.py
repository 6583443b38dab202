"""How code that is compiled reads and writes numbers by name (`named`).

memory = view_of(Memory)

@core
def decide(S):
    M = memory(S)
    M.rounds += 1
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

from pointsman.engine.jit.mode import COMPILING
from pointsman.engine.state.layouts import Layout
from pointsman.engine.state.named import Kept, Record

R = TypeVar("R", bound=Record)


class HasParameters(Protocol):
    """A class of compiled policies."""

    @classmethod
    def parameter_record(cls) -> type[Record]:
        """The record of their parameters."""
        ...


def _opening(layout: Layout, record: type[Record]) -> Callable[..., Any]:
    """What gives this record of a state; `layout` says all that matters of it."""

    def open_view(state: Any) -> Record:
        return record(getattr(state, layout.place))

    if COMPILING:
        from pointsman.engine.state.jit_named import teach_view

        teach_view(open_view, layout)
    return open_view


def _opening_kept(layout: Layout, record: type[Kept]) -> Callable[..., Any]:
    """What gives what is kept of a job, node or GPU."""

    def open_kept(state: Any, index: int) -> Record:
        return record(getattr(state, layout.place)[index])

    if COMPILING:
        from pointsman.engine.state.jit_named import teach_kept

        teach_kept(open_kept, layout, record.fields)
    return open_kept


@overload
def view_of(record: type[R]) -> Callable[..., R]: ...
@overload
def view_of(record: type[HasParameters]) -> Callable[..., Any]: ...
def view_of(record: Any) -> Callable[..., Any]:
    """What compiled code calls to read and write a record by its names: ``memory(S)``; of what is kept of a job,
    ``kept(S, j)``, and likewise of nodes and GPUs. Of a class of policies: their parameters.
    """
    own = record if issubclass(record, Record) else record.parameter_record()
    view: Any = (_opening_kept if issubclass(own, Kept) else _opening)(own.layout, own)
    view.record = own
    view.compiled_from = own.layout, getattr(own, "fields", ())
    return view
