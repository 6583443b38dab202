"""What happens to nodes and jobs from outside: scripted events, checked and in order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.setup.prepare import LATEST_MS
from pointsman.engine.state.records import SCRIPT
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.types import Event, NodeState

_NODE_STATES = {"UP": NodeState.UP, "DRAIN": NodeState.DRAIN, "DOWN": NodeState.DOWN}


def make_script(
    node_events: Sequence[tuple[float, str, str]],
    cancels: Sequence[tuple[float, int]],
    layout: Layout,
    submit_ms: NDArray[np.int64],
) -> NDArray[np.void]:
    """Scripted events, ordered: (time_s, node name or index, UP|DRAIN|DOWN), and (time_s, row) of jobs cancelled.

    Raises:
        UsageError: not of that shape; no such time, node, state or row; a cancel before its job is there.
    """
    index = {name: i for i, name in enumerate(layout.node_names)}
    rows = []
    for event in node_events:
        told = f"node event {event!r:.80}"
        time_s, node, state = _parts(event, 3, told, "(time_s, node, state)")
        n = index.get(str(node), int(node) if str(node).isdecimal() else -1)
        if not 0 <= n < len(layout.node_gpus):
            raise UsageError(f"{told}: no such node {_near(str(node), index)}")
        if state not in _NODE_STATES:
            raise UsageError(f"{told}: the state must be one of {', '.join(_NODE_STATES)}")
        kind = Event.NODE_UP if state == "UP" else Event.NODE_DOWN
        rows.append((_script_ms(time_s, told), int(kind), n, int(_NODE_STATES[state]), -1, 0.0))
    for cancel in cancels:
        told = f"cancel {cancel!r:.80}"
        time_s, row = _parts(cancel, 2, told, "(time_s, row)")
        if not isinstance(row, int | np.integer) or not 0 <= row < len(submit_ms):
            raise UsageError(f"{told}: no such row (they are 0 to {len(submit_ms) - 1})")
        row = int(row)
        time_ms = _script_ms(time_s, told)
        if time_ms <= submit_ms[row]:
            at_s = submit_ms[row] / 1000
            raise UsageError(f"{told}: job {row} is submitted at {at_s:g} s, and can only be cancelled after that")
        rows.append((time_ms, int(Event.CANCEL), row, 0, -1, 0.0))
    return np.array(sorted(rows), SCRIPT)


def _parts(item: Any, count: int, told: str, shape: str) -> Sequence[Any]:
    if not isinstance(item, Sequence) or isinstance(item, str) or len(item) != count:
        raise UsageError(f"{told}: it must be {shape}")
    return item


def _script_ms(time_s: Any, told: str) -> int:
    number = isinstance(time_s, int | float | np.integer | np.floating)
    if not number or not 0 <= 1000 * time_s < LATEST_MS:
        latest_s = LATEST_MS // 1000
        raise UsageError(f"{told}: the time must be seconds since the first submit, from 0 to {latest_s:.3g}")
    return round(1000 * time_s)


def _near(node: str, index: dict[str, int]) -> str:
    return f"({did_you_mean(node, index, limit=4)}; or an index from 0 to {len(index) - 1})"
