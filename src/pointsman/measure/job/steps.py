"""From the name of a model to its step, in the process of the job."""

import importlib.util
import inspect
import os
import re
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pointsman.errors import UsageError
from pointsman.measure.messages import Saved, Setting
from pointsman.measure.models.catalogue import MODELS

Step = Callable[[], object]
_TORCH: Final = re.compile(r"^\s*(import|from)\s+(torch|pointsman\.measure\.training)\b", re.MULTILINE)


def make_step(setting: Setting, device: str) -> Step:
    """The step of a training.

    A function gets those of ``batch``, ``parts``, ``device`` and ``precision`` that it has parameters for. It returns
    the step, or a recipe (`pointsman.measure.training.Recipe`), which is cut into parts and moved to the device here.

    Raises:
        UsageError: there is no such function, it returns something else, or it returns a step without regard to the
            number of parts or the precision, or one that a call does not execute.
    """
    how = {"parts": setting.parts, "device": device, "precision": setting.precision}
    function = _function(setting.model)
    given = {"batch": setting.batch, **how}
    taken = [name for name in inspect.signature(function).parameters if name in given]
    made = function(**{name: given[name] for name in taken})
    if start := getattr(made, "start", None):
        return start(**how)
    if not callable(made):
        raise UsageError(f"{setting.model} returned {type(made).__name__}; return a step (a function) or a Recipe")
    if inspect.iscoroutinefunction(made) or inspect.isgeneratorfunction(made):
        raise UsageError(f"{setting.model} returned a step that a call only begins; return one that ends with the call")
    for name, usual in Setting._field_defaults.items():
        if name not in taken and given[name] != usual:
            raise UsageError(
                f"{setting.model} has no parameter {name!r}, so its step is the same with {name} {given[name]}; "
                "add the parameter, or return a Recipe"
            )
    return made


def imports_torch(model: str) -> bool:
    """Whether a training uses PyTorch, as far as the user's file itself says; all models that ship do."""
    path, colon, _ = model.rpartition(":")
    return not colon or (find_spec("torch") is not None and bool(_TORCH.search(_read(path))))


def _read(path: str) -> str:
    return Path(path).read_text(errors="replace") if Path(path).is_file() else ""


def gradient_bytes(step: Step) -> int:
    """The size of all gradients; 0 if the step does not tell its parameters."""
    parameters = getattr(step, "parameters", None)
    return sum(p.numel() * p.element_size() for p in parameters()) if parameters else 0


def write_checkpoint(step: Any, path: str) -> int:
    """Write the state of a training to the disk; returns the bytes."""
    import torch

    with open(path, "wb") as file:
        torch.save(step.state_dict(), file)
        file.flush()
        os.fsync(file.fileno())
    return Path(path).stat().st_size


def save_and_load(step: Any, path: str, wait: Callable[[], None]) -> Saved:
    """Write a checkpoint and read it back, and say how long each took.

    Raises:
        UsageError: the step has no state.
    """
    if not hasattr(step, "state_dict"):
        raise UsageError("this step has no state_dict(), so it cannot be saved; return a Recipe")
    import torch

    begin = time.monotonic()
    size_bytes = write_checkpoint(step, path)
    written = time.monotonic()
    _forget_cached(path)
    begin_read = time.monotonic()
    step.load_state_dict(torch.load(path, weights_only=False))  # whatever the user's step has just written
    wait()
    return Saved(size_bytes, written - begin, time.monotonic() - begin_read)


def _forget_cached(path: str) -> None:
    """Have the file read from its disk, where the system can forget what it has cached."""
    if hasattr(os, "posix_fadvise"):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _function(model: str) -> Callable[..., Any]:
    path, colon, name = model.rpartition(":")
    if not colon:
        return getattr(import_module(f"pointsman.measure.models.{MODELS[model].module}"), model)
    function = getattr(_load_file(Path(path)), name, None)
    if not callable(function):
        raise UsageError(f"{path} has no function {name!r}")
    return function


def _load_file(path: Path) -> ModuleType:
    """The module in a file, whose neighbours it may import."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"measured_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
