"""Cluster files: YAML in, a validated `Cluster` out, every complaint with its line."""

from collections.abc import Hashable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError
from yaml.events import AliasEvent

from pointsman.cluster.spec import Cluster
from pointsman.cluster.suggestion import did_you_mean
from pointsman.errors import UsageError

MAX_BYTES = 16 * 1024**2
"""A cluster file is small; a bigger one is something else."""

_At = tuple[str | int, ...]


def read_cluster(path: str | Path) -> Cluster:
    """The cluster in a YAML (or JSON) file.

    Raises:
        UsageError: unreadable, no YAML, or not a valid `Cluster`; the message has file, line and fix.
    """
    return parse_cluster(_read_text(Path(path)), origin=str(path))


def parse_cluster(text: str, *, origin: str) -> Cluster:
    """The cluster that the YAML ``text`` describes; ``origin`` is named in errors.

    Raises:
        UsageError: no YAML, or not a valid `Cluster`.
    """
    document = _compose(text, origin)
    try:
        return Cluster.model_validate(document.data)
    except ValidationError as error:
        raise _complaint(error, document, origin) from None


class _Document:
    """Plain data, and the line on which each part of it begins."""

    def __init__(self, root: yaml.Node) -> None:
        self._lines: dict[_At, int] = {}
        self._constructor = yaml.SafeLoader("")
        self.data = self._convert(root, ())

    def line(self, at: _At) -> int:
        """Line of ``at``, or of the nearest thing around it."""
        while at and at not in self._lines:
            at = at[:-1]
        return self._lines[at]

    def _convert(self, node: yaml.Node, at: _At) -> Any:
        self._lines.setdefault(at, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self._convert(child, (*at, i)) for i, child in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return dict(self._items(node, at))
        value = self._constructor.construct_object(node)
        return _whole_characters(value) if isinstance(value, str) else value

    def _items(self, node: yaml.MappingNode, at: _At) -> Iterator[tuple[Hashable, Any]]:
        seen = set()
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConstructorError(None, None, "a key must be a word", key_node.start_mark)
            key = _whole_characters(key_node.value)  # as written: a key `on` or `1` is a word too
            if key in seen:
                raise ConstructorError(None, None, f"{key!r} is given twice", key_node.start_mark)
            seen.add(key)
            self._lines[*at, key] = key_node.start_mark.line + 1
            yield key, self._convert(value_node, (*at, key))


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(AliasEvent):
            mark = self.peek_event().start_mark
            raise ComposerError(None, None, "aliases (*name) are not allowed; write the value out", mark)
        return super().compose_node(parent, index)


def _whole_characters(text: str) -> str:
    """JSON may escape a character as two surrogates, which YAML leaves apart; ValueError for a lone one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path}: larger than {MAX_BYTES // 1024**2} MiB, which no cluster file is")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: binary data, not a YAML cluster file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{path}: cannot be read: {reason}") from None


def _compose(text: str, origin: str) -> _Document:
    try:
        root = yaml.compose(text, _Loader)
        if root is None:
            raise UsageError(f"{origin}: the file is empty (start from 'pointsman cluster show 16x4')")
        return _Document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{origin}{line}: not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{origin}: not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise UsageError(f"{origin}: nested too deeply for a cluster file") from None
    except ValueError as error:  # what YAML takes for a date or a number may be none
        raise UsageError(f"{origin}: not valid YAML: {error}") from None


def _complaint(error: ValidationError, document: _Document, origin: str) -> UsageError:
    """One sentence about the first fault; unknown keys first, for they explain what is missing."""

    def where(fault: Any) -> _At:
        return tuple(part for part in fault["loc"] if part != "[key]") + tuple(fault.get("ctx", {}).get("at", ()))

    faults = sorted(error.errors(), key=lambda f: (f["type"] != "extra_forbidden", document.line(where(f))))
    fault, at = faults[0], where(faults[0])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return UsageError(f"{origin}:{document.line(at)}: {_sentence(fault, at)}{more}")


def _sentence(fault: Any, at: _At) -> str:
    place = ".".join(str(part) if str(part).isprintable() else repr(part) for part in at)
    if fault["type"] == "extra_forbidden":
        return f"unknown key {at[-1]!r} ({did_you_mean(str(at[-1]), _known_keys(at[:-1]))})"
    if fault["type"] == "missing":
        return f"{place!r} is missing"
    if fault["type"] == "model_type":
        return f"{place or 'the document'!r} must be a mapping of keys, not {fault['input']!r:.60}"
    if fault["type"] == "tuple_type":
        return f"{place!r} must be a list, not {fault['input']!r:.60}"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] in ("cluster", "value_error"):
        return f"{place}: {message}"
    return f"{place}: {message[0].lower()}{message[1:]}, not {fault['input']!r:.60}"


def _known_keys(at: _At) -> list[str]:
    """Keys that the mapping at ``at`` may have, found by walking down the models' annotations."""
    inside: Any = Cluster
    for part in at:
        fields = _fields(inside)
        inside = fields[str(part)].annotation if fields else _models_in(inside)[0]
        if get_origin(inside) in (Union, UnionType):
            inside = _models_in(inside)[0]
    return list(_fields(inside))


def _fields(annotation: Any) -> dict[str, FieldInfo]:
    """Fields by the key they have in the file; none where ``annotation`` is a container of models."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return {}
    return {field.alias or name: field for name, field in annotation.model_fields.items()}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in get_args(annotation) for model in _models_in(arg)]
