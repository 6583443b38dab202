"""All that a live world knows, as bytes: a world made alike goes on from it as if it had never stopped."""

import hashlib
import json
from typing import Any

import numpy as np

from pointsman.engine.sdk.live import AROUND, Handle, with_larger_inbox
from pointsman.errors import RunError
from pointsman.live.world.live_world import LiveWorld
from pointsman.parallel.ray import source_digest
from pointsman.version import __version__

FORMAT = 1
OTHER_WORLD = "what was kept is of another version of Pointsman, another cluster, policy or set of jobs"
_ADDRESSES = (
    *("address", "network", "sharing", "staging", "rating", "on_event", "on_run", "decide"),
    *("scripted_events", "history", "audit"),
)
"""Scalars that are addresses of this process."""
_MADE_ALIKE = (
    *("rates", "models", "links", "steps", "subbatches", "slowdowns", "goodputs", "rate_steps", "told_rates"),
    *("told_goodputs", "told_slowdowns", "alts", "ints", "params"),
)
"""Arrays that a world made alike has, too."""
_EMPTY = ("log", "speed_log", "samples", "script", "outcomes", "trace", "place")
"""Arrays in which nothing is kept from one turn to the next."""
_UNSAVED = (*_MADE_ALIKE, "factors", "history_keys", "told_numbers", *_EMPTY)
"""Besides them, what holds addresses of this process, and what is told of jobs to come."""


class NotAlike(RunError):
    """The checkpoint is of another version, cluster, policy or set of classes: jobs must be seated anew."""


class PolicyFailed(RunError):
    """The policy cannot say what it remembers."""


def checkpoint(world: LiveWorld) -> bytes:
    """Everything, between two turns.

    Raises:
        RunError: something was submitted or told since the last turn. PolicyFailed: the policy cannot say what it
            remembers.
    """
    handle = world.simulation.handle
    clock = handle.world.clock[0]
    if clock["jobs"] != clock["arrived"] or world.told:
        raise RunError("a checkpoint is made between two turns, and something was told since the last one")
    parts = {name: array[: rows_in_use(handle, name)] for name, array in kept_arrays(handle).items()}
    parts["lists"] = handle.state.lists[:, : width_in_use(handle)]
    parts["g"] = handle.state.g.copy()
    for name in _ADDRESSES:
        parts["g"][name] = 0
    head = {
        "format": FORMAT,
        "identity": identity(world),
        "arrays": {name: array.shape for name, array in parts.items()},
        "policy": _memory_of(world.simulation.policy),
    }
    text = json.dumps(head).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in parts.values())])


def restore(world: LiveWorld, data: bytes) -> None:
    """Go on from what `checkpoint` made, in a world that has not begun. A policy that has forgotten all, because it has
    no ``recall``, hears of the jobs that are there as of new ones.

    Raises:
        NotAlike: this world was not made alike. RunError: these bytes are no checkpoint.
    """
    head, at = _head(data)
    if head["identity"] != identity(world):
        raise NotAlike(OTHER_WORLD)
    if (heard := head["arrays"]["inbox"][0]) > len(world.simulation.handle.state.inbox):
        world.simulation.handle = with_larger_inbox(world.simulation.handle, heard)
    handle = world.simulation.handle
    addresses = {name: handle.state.g[name][0] for name in _ADDRESSES}
    arrays = kept_arrays(handle)
    for name, shape in head["arrays"].items():
        there = arrays[name]
        saved = np.frombuffer(data, there.dtype, int(np.prod(shape)), at).reshape(shape)
        at += saved.nbytes
        if name == "lists":
            there[:, : shape[1]] = saved
        else:
            there[: shape[0]].view(np.uint8)[:] = saved.view(np.uint8)
    for name, address in addresses.items():
        handle.state.g[name] = address
    if head["policy"] is not None:
        _recall(world.simulation.policy, head["policy"])
    elif not world.remembers:
        world.simulation.introduce()
    world.find_jobs()


def identity(world: LiveWorld) -> str:
    """A digest of all that must be alike in the world that goes on."""
    handle, policy = world.simulation.handle, world.simulation.policy
    made_of = f"{FORMAT} {__version__} {source_digest()} {policy.name} {world.made_of} {world.rules}"
    digest = hashlib.sha256(made_of.encode())
    arrays = {**handle.state._asdict(), **handle.world._asdict()}
    for name in _MADE_ALIKE:
        digest.update(arrays[name].tobytes())
    kept = {name: array[:0] if name == "inbox" else array for name, array in kept_arrays(handle).items()}  # which grows
    digest.update(repr([(name, array.shape, array.dtype) for name, array in kept.items()]).encode())
    digest.update(handle.state.classes["gpus"].tobytes() + handle.state.nodes["gpus"].tobytes())
    layout = world.prepared.layout
    digest.update(repr((list(layout.node_names), list(layout.gpu_types), layout.node_gpu_type.tolist())).encode())
    return digest.hexdigest()


def kept_arrays(handle: Handle) -> dict[str, Any]:
    """What is kept from one turn to the next, by name."""
    arrays = {**handle.state._asdict(), **handle.world._asdict()}
    return {name: array for name, array in arrays.items() if name not in _UNSAVED}


def width_in_use(handle: Handle) -> int:
    """How many columns of State.lists are in use."""
    return max(int(handle.state.g["slots"][0]), int(handle.state.g["classes"][0]))


def rows_in_use(handle: Handle, name: str) -> int | None:
    """How many rows of an array are in use; None: all."""
    slots = int(handle.state.g["slots"][0])
    used = {
        "jobs": slots,
        "truth": slots,
        "heap": slots + AROUND,
        "job_numbers": slots,
        "claims": int(handle.state.g["claims"][0]),
        "inbox": int(handle.state.g["inbox"][0]),
    }
    long = len(handle.state.jobs)
    for other in ("flows", "transfers", "history_features"):
        if len(getattr(handle.state, other)) == long:
            used[other] = slots
    return used.get(name)


def _memory_of(policy: Any) -> Any:
    """What a policy written in Python says of its memory, as JSON has it; None if it has none."""
    if not hasattr(policy, "remember"):
        return None
    try:
        memory = policy.remember()
        json.dumps(memory)
    except Exception as error:
        raise PolicyFailed(f"policy {policy.name!r} failed to remember: {type(error).__name__}: {error}") from error
    return memory


def _recall(policy: Any, memory: Any) -> None:
    try:
        policy.recall(memory)
    except Exception as error:
        raise NotAlike(f"policy {policy.name!r} failed to recall: {type(error).__name__}: {error}") from error


def _head(data: bytes) -> tuple[dict[str, Any], int]:
    try:
        length = int.from_bytes(data[:8], "little")
        head = json.loads(data[8 : 8 + length])
        if head["format"] == FORMAT:
            return head, 8 + length
    except (KeyError, TypeError, ValueError) as error:
        raise RunError("these bytes are no checkpoint of a live world") from error
    raise NotAlike(f"the checkpoint has format {head['format']}, and this version writes {FORMAT}")
