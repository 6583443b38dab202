"""YAML, JSON and TOML files checked against a pydantic model; every complaint has file, line, cause and fix."""

import re
import tomllib
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any, Final, Generic, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError
from yaml.events import AliasEvent, Event

from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.messages import wording

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]

MAX_BYTES: Final = 16 * 1024**2
"""What people write by hand is small; a bigger file is something else."""
_SCIENTIFIC: Final = re.compile(r"[-+]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})[eE][-+]?\d{1,9}")
"""1e5, which to YAML 1.1 is a text for want of a point and a sign."""
LONGEST: Final = 60
"""Characters of a value in a message."""


@dataclass(frozen=True)
class Document(Generic[Model]):
    """A checked file."""

    origin: str
    content: Model
    source: "_Source"

    def where(self, *place: str | int) -> str:
        """``file:line`` of a key, or of the nearest thing around it."""
        return self.source.where(place)


def read_document(path: str | Path, model: type[Model]) -> Document[Model]:
    """The file at `path` as a `model`; TOML where the name ends so, otherwise YAML (of which JSON is a part).

    Raises:
        UsageError: it cannot be read or parsed, repeats a key, or does not fit the model.
    """
    return parse_document(_read_text(Path(path)), model, origin=str(path))


def parse_document(text: str, model: type[Model], *, origin: str) -> Document[Model]:
    """`text` as a `model`; `origin` is named in errors, and its ending tells the language.

    Raises:
        UsageError: no such language, a key twice, or it does not fit the model.
    """
    source = _toml(text, origin) if origin.endswith(".toml") else _yaml(text, origin)
    try:
        return Document(origin, model.model_validate(source.data), source)
    except ValidationError as error:
        raise _complaint(error, source, model) from None


def parse_value(text: str, *, origin: str) -> Any:
    """One value as YAML 1.2 has them: a number, a truth value, a date, a list, a mapping or a text.

    Text that is not YAML is returned as it is; `origin` is named in errors.

    Raises:
        UsageError: it is tagged as what it is not, nested too deeply, or a date or number that there cannot be.
    """
    try:
        root = yaml.compose(text, _Loader)
        value = None if root is None else _Tree({}).convert(root, ())
        return float(value) if isinstance(value, str) and _SCIENTIFIC.fullmatch(value) else value
    except ConstructorError as error:
        raise UsageError(f"{origin}: {error.problem}") from None
    except RecursionError:
        raise UsageError(f"{origin}: nested too deeply") from None
    except (yaml.YAMLError, ValueError):
        return text


@dataclass
class _Source:
    """Plain data, and the line on which each part of it begins."""

    origin: str
    data: Any = None
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 0)

    def where(self, place: Place) -> str:
        line = self.line(place)
        return f"{self.origin}:{line}" if line else self.origin


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path}: larger than {MAX_BYTES // 1024**2} MiB; give a YAML or TOML file")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: binary data, not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{path}: cannot be read: {reason}") from None


def _toml(text: str, origin: str) -> _Source:
    try:
        source = _Source(origin, tomllib.loads(text))
    except ValueError as error:  # a TOMLDecodeError, or a number of thousands of digits
        raise UsageError(f"{origin}: not valid TOML: {error!s:.200}") from None
    except RecursionError:
        raise UsageError(f"{origin}: nested too deeply") from None
    for place in _places(source.data, ()):  # TOML's parser tells no lines: look for the key, where it is there once
        key = re.escape(str(place[-1]))
        found = [*re.finditer(rf"^[ \t]*(?:\[[^\]\n]*\b{key}\]|{key}[ \t]*=)", text, re.MULTILINE)]
        if len(found) == 1:
            source.lines[place] = text.count("\n", 0, found[0].start()) + 1
    return source


def _places(data: Any, at: Place) -> Iterator[Place]:
    for key, value in data.items() if isinstance(data, dict) else ():
        yield (*at, key)
        yield from _places(value, (*at, key))


class _WithoutAliases(Composer):
    check_event: Callable[..., bool]
    peek_event: Callable[[], Event]

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(AliasEvent):  # a few of them can stand for gigabytes
            mark = self.peek_event().start_mark
            raise ComposerError(None, None, "aliases (*name) are not allowed; write the value out", mark)
        return super().compose_node(parent, index)


class _Loader(_WithoutAliases, yaml.SafeLoader):
    pass


if yaml.__with_libyaml__:

    class _QuickLoader(_WithoutAliases, yaml.CSafeLoader):
        """With the parser of libyaml, which takes an eighth of the time."""

        def __init__(self, stream: str) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            Composer.__init__(self)


def _compose(text: str) -> yaml.Node | None:
    """The nodes of a text as PyYAML's own parser has them, which also says what is wrong with it; it refuses some tabs
    and question marks that libyaml takes.
    """
    if yaml.__with_libyaml__ and "\t" not in text and "?" not in text:
        with suppress(yaml.YAMLError, ValueError):
            return yaml.compose(text, _QuickLoader)
    return yaml.compose(text, _Loader)


def _yaml(text: str, origin: str) -> _Source:
    source = _Source(origin)
    try:
        root = _compose(text)
        if root is None:
            raise UsageError(f"{origin}: the file is empty")
        source.data = _Tree(source.lines).convert(root, ())
        return source
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{origin}{line}: not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{origin}: not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise UsageError(f"{origin}: nested too deeply") from None
    except ValueError as error:  # a key with half a character
        raise UsageError(f"{origin}: not valid YAML: {error}") from None


class _Tree:
    """Turns YAML nodes into plain data, and notes the line of every key and item."""

    def __init__(self, lines: dict[Place, int]) -> None:
        self._lines = lines
        self._constructor = yaml.SafeLoader("")

    def convert(self, node: yaml.Node, at: Place) -> Any:
        self._lines.setdefault(at, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.convert(child, (*at, i)) for i, child in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return dict(self._items(node, at))
        return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> Any:
        try:
            value = self._constructor.construct_object(node)
            return _whole_characters(value) if isinstance(value, str) else value
        except (ArithmeticError, AttributeError, LookupError, ValueError):  # a date or a number that there cannot be
            raise ConstructorError(None, None, f"cannot read the value {_short(node.value)}", node.start_mark) from None

    def _items(self, node: yaml.MappingNode, at: Place) -> Iterator[tuple[Hashable, Any]]:
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConstructorError(None, None, "a key must be a word", key_node.start_mark)
            key = _whole_characters(key_node.value)  # as written: a key `on` or `1` is a word too
            if (first := self._lines.get((*at, key))) is not None:
                raise ConstructorError(
                    None, None, f"key {key!r} is given twice (first on line {first})", key_node.start_mark
                )
            self._lines[*at, key] = key_node.start_mark.line + 1
            yield key, self.convert(value_node, (*at, key))


def _short(value: Any) -> str:
    """As Python writes it, or its beginning."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _whole_characters(text: str) -> str:
    """JSON may escape a character as two surrogates, which YAML leaves apart; ValueError for a lone one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _complaint(error: ValidationError, source: _Source, model: type[BaseModel]) -> UsageError:
    """One sentence about the first fault; unknown keys first, for they explain what is missing."""

    def where(fault: Any) -> Place:
        return tuple(part for part in fault["loc"] if part != "[key]") + tuple(fault.get("ctx", {}).get("at", ()))

    faults = sorted(error.errors(), key=lambda f: (f["type"] != "extra_forbidden", source.line(where(f))))
    fault, at = faults[0], where(faults[0])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return UsageError(f"{source.where(at)}: {_sentence(fault, at, model)}{more}")


def _sentence(fault: Any, at: Place, model: type[BaseModel]) -> str:
    place = ".".join(str(part) if str(part).isprintable() else repr(part) for part in at)
    if fault["type"] == "extra_forbidden":
        return f"unknown key {at[-1]!r} ({did_you_mean(str(at[-1]), _known_keys(at[:-1], model))})"
    if fault["type"] == "missing":
        return f"{place!r} is missing"
    if fault["type"] in ("model_type", "model_attributes_type"):
        return f"{place or 'the document'} must be a mapping of keys, not {_short(fault['input'])}"
    if fault["type"] == "tuple_type":
        return f"{place!r} must be a list, not {_short(fault['input'])}"
    message = wording(fault["msg"])
    if "error" in fault.get("ctx", {}) or "at" in fault.get("ctx", {}):  # a sentence of ours
        return f"{place}: {message}"
    return f"{place}: {message}, not {_short(fault['input'])}"


def _known_keys(at: Place, model: type[BaseModel]) -> list[str]:
    """Keys that the mapping at `at` may have, found by walking down the models' annotations."""
    inside: Any = model
    for part in at:
        fields = _fields(inside)
        inside = fields[str(part)].annotation if str(part) in fields else _models_in(inside)[0]
        if get_origin(inside) in (Union, UnionType):
            inside = _models_in(inside)[0]
    return list(_fields(inside))


def _fields(annotation: Any) -> dict[str, FieldInfo]:
    """Fields by the key they have in the file; none where `annotation` is a container of models."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return {}
    return {field.alias or name: field for name, field in annotation.model_fields.items()}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in get_args(annotation) for model in _models_in(arg)]
