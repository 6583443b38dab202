"""YAML checked against a pydantic model, with errors that name file, line, cause and fix."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml
import yaml.composer
from pydantic import BaseModel, ValidationError

from pointsman.cluster.suggestion import did_you_mean
from pointsman.errors import UsageError

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Document(Generic[Model]):
    """A checked file, and where in it each key stands."""

    path: Path
    content: Model
    lines: dict[Place, int]

    def where(self, *place: str | int) -> str:
        """``file:line`` of the key at `place`."""
        return f"{self.path}:{self.lines[place]}"


class _NoAliases(yaml.SafeLoader):
    """A few aliases of aliases can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed; write the value out", mark)
        return super().compose_node(parent, index)


def read_yaml(path: Path, model: type[Model]) -> Document[Model]:
    """`path` as a `model`.

    Raises:
        UsageError: the file cannot be read, is no YAML, repeats a key, or does not fit the model.
    """
    lines: dict[Place, int] = {}
    data = _tree(_compose(path), (), lines, path)
    try:
        return Document(path, model.model_validate(data), lines)
    except ValidationError as error:
        # an unknown key first: it may be what is missing under another name
        fault = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        raise UsageError(_sentence(fault, lines, path, model)) from None


def _compose(path: Path) -> yaml.Node:
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_NoAliases)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8 text (is it a YAML file?)") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(f"{place}: is no valid YAML: {problem}") from None
    except RecursionError:
        raise UsageError(f"{path}: is nested too deeply") from None
    if node is None:
        raise UsageError(f"{path}: is empty")
    return node


def _tree(node: yaml.Node, at: Place, lines: dict[Place, int], path: Path) -> Any:
    """Plain data of `node`; notes the line of every key and item in `lines`."""
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_tree(item, (*at, i), lines, path) for i, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return _scalar(node, path)
    tree: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise UsageError(f"{path}:{line}: a key must be plain text")
        key = key_node.value
        if key in tree:
            raise UsageError(f"{path}:{line}: key '{key}' is given twice (first on line {lines[*at, key]})")
        lines[*at, key] = line
        tree[key] = _tree(value_node, (*at, key), lines, path)
    return tree


def _scalar(node: yaml.Node, path: Path) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError):
        raise UsageError(f"{path}:{node.start_mark.line + 1}: cannot read the value '{node.value}'") from None
    finally:
        loader.dispose()


def _sentence(error: Any, lines: dict[Place, int], path: Path, model: type[BaseModel]) -> str:
    at: Place = error["loc"]
    known = next((at[:n] for n in range(len(at), -1, -1) if at[:n] in lines), ())
    where = f"{path}:{lines[known]}" if known in lines else str(path)
    name = ".".join(str(part) for part in at) or "the file"
    if error["type"] == "extra_forbidden":
        hint = did_you_mean(str(at[-1]), _keys_at(at[:-1], model))
        return f"{where}: unknown key '{at[-1]}' in {'.'.join(map(str, at[:-1])) or 'the file'} ({hint})"
    if error["type"] == "missing":
        return f"{where}: {name} is missing"
    return f"{where}: {name}: {error['msg'].removeprefix('Value error, ')}"


def _keys_at(at: Place, annotation: Any) -> list[str]:
    """Field names of the model that sits at `at`; steps over the keys of mappings."""
    for part in at:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            annotation = annotation.model_fields[str(part)].annotation
        else:
            annotation = annotation.__args__[-1]
    return list(annotation.model_fields)
