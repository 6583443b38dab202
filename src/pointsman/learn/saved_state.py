"""``training.json``: the state of a training that goes on, checked before it is believed."""

import json
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pointsman.errors import InputError
from pointsman.inputs.messages import fault_of

FIX = "train anew, elsewhere"


class Saved(BaseModel):
    """What JSON must be to be a state: numbers are numbers and finite, and nothing else is there."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


State = TypeVar("State", bound=Saved)


class _Registers(Saved):
    state: int = Field(ge=0, lt=1 << 128)
    inc: int = Field(ge=0, lt=1 << 128)


class Pcg64(Saved):
    """The state of NumPy's default generator."""

    bit_generator: Literal["PCG64"]
    state: _Registers
    has_uint32: Annotated[int, Field(ge=0, le=1)]
    uinteger: int = Field(ge=0, lt=1 << 32)


def read_state(path: Path, kind: type[State]) -> State:
    """The state in a file.

    Raises:
        InputError: there is no file, or it holds something else.
    """
    try:
        return kind.model_validate(_content(path))
    except ValidationError as error:
        place, fault = fault_of(error)
        raise no_state(path, f"{place}: {fault}" if place else fault) from None


def no_state(path: Path, why: object) -> InputError:
    """What to raise where a file holds another state than that of this training."""
    return InputError(f"not the state of a training: {why}", path=path, fix=FIX)


def _content(path: Path) -> object:
    if path.exists() and not path.is_file():
        raise no_state(path, "it is no regular file")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise no_state(path, error.strerror or error) from None
    except (ValueError, RecursionError):
        raise no_state(path, "it is not JSON") from None
    if not isinstance(content, dict):
        raise no_state(path, f"it must be an object of names and values, not {content!r:.60}")
    return content
