"""Objects of Kubernetes in JSON or YAML: what ``kubectl get -o json|yaml`` prints, one or several, of any kinds."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import yaml

from pointsman.workload.readers.sdk import InputError, Source, elements

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every value is text, times too."""
_SOME: Final = re.compile(r"\S")
_JSON: Final = re.compile(r"\s*[{\[][\s{\[]*(?:[\"}\]]|$)")
"""How JSON begins; YAML in braces has keys without quotes."""
_DEEPEST: Final = 100
"""Levels of an object; Kubernetes' own have some 20."""


@dataclass(frozen=True, eq=False)
class Object:
    """One object, and where it stands."""

    kind: str
    group: str
    """The group of its API: `batch`, `kueue.x-k8s.io`; empty for the core."""
    namespace: str
    name: str
    uid: str
    body: dict[str, Any]
    line: int

    @cached_property
    def metadata(self) -> dict[str, Any]:
        return part(self.body, "metadata")

    @cached_property
    def spec(self) -> dict[str, Any]:
        return part(self.body, "spec")

    @cached_property
    def status(self) -> dict[str, Any]:
        return part(self.body, "status")

    @cached_property
    def labels(self) -> dict[str, str]:
        """Labels, and annotations where no label has the name."""
        return {**_texts(part(self.metadata, "annotations")), **_texts(part(self.metadata, "labels"))}

    @cached_property
    def owners(self) -> list[dict[str, Any]]:
        return dicts(self.metadata.get("ownerReferences"))

    @cached_property
    def conditions(self) -> dict[str, dict[str, Any]]:
        """Those that hold, by type. Volcano's have a status in the place of a type."""
        found = {}
        for one in dicts(self.status.get("conditions")):
            kind, holds = text_of(one.get("type")), text_of(one.get("status"))
            if kind and holds.casefold() == "true":
                found[kind] = one
            elif not kind:
                found[holds] = one
        return found


def part(holder: Any, *keys: str) -> dict[str, Any]:
    """The mapping at these keys within keys; empty if there is none."""
    for key in keys:
        holder = holder.get(key) if isinstance(holder, dict) else None
    return holder if isinstance(holder, dict) else {}


def dicts(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """A value as text; empty of nothing."""
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()


def count_of(value: Any, otherwise: int) -> int:
    """A whole number, also as text."""
    found = re.fullmatch(r"[0-9]{1,9}", text_of(value))
    return int(found[0]) if found else otherwise


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {str(key): text_of(value) for key, value in values.items()}


def objects(source: Source) -> list[tuple[int, Object | None]]:
    """Every object with its line; None for what is none. Lists are opened.

    Raises:
        InputError: the text is neither JSON nor YAML.
    """
    read = _json if _JSON.match(source.text) else _yaml
    return [found for line, value in read(source) for found in _open_lists(line, value)]


def _json(source: Source) -> Iterator[tuple[int, Any]]:
    """A list, a List, or documents one after another."""
    text, decoder = source.text, json.JSONDecoder()
    at, line, counted = 0, 1, 0
    while begun := _SOME.search(text, at):
        line, counted = line + text.count("\n", counted, begun.start()), begun.start()
        try:
            value, at = decoder.raw_decode(text, begun.start())
        except (ValueError, RecursionError) as error:
            cause, where = getattr(error, "msg", "too deep"), getattr(error, "pos", at)
            broken = text.count("\n", 0, where) + 1
            raise InputError(f"broken JSON: {cause}", path=source.path, line=broken, fix="is it truncated?") from None
        items = value.get("items") if isinstance(value, dict) else value
        listed = isinstance(items, list) and _SOME.search(text, at) is None and _with_lines(source, value, items)
        yield from ((row, _of_list(one, value)) for row, one in listed or [(line, value)])


def _of_list(item: Any, holder: Any) -> Any:
    """With the kind that a PodList gives its items, which do not say it each."""
    kind = text_of(holder.get("kind")) if isinstance(holder, dict) else ""
    if (
        isinstance(item, dict)
        and item is not holder
        and "kind" not in item
        and kind.endswith("List")
        and kind != "List"
    ):
        return {"apiVersion": holder.get("apiVersion"), "kind": kind.removesuffix("List"), **item}
    return item


def _with_lines(source: Source, value: Any, items: list[Any]) -> list[tuple[int, Any]]:
    """The elements of the only list, or items, of the text, each with its line; empty if they are not found so."""
    begun = re.search(r"\[" if value is items else r'"items"\s*:\s*\[', source.text)
    found = [] if begun is None else list(elements(source.text, begun.end(), source.path))
    return (
        found
        if len(found) == len(items) and all(one == item for (_, one), item in zip(found, items, strict=True))
        else []
    )


def _yaml(source: Source) -> Iterator[tuple[int, Any]]:
    try:
        for root in yaml.compose_all(source.text, _Loader):
            listed = _items(root)
            known: dict[int, Any] = {}
            whole = {} if listed is None else _value(root, 0, known)
            for node in [root] if listed is None else listed:
                yield node.start_mark.line + 1, _of_list(_value(node, 0, known), whole)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        cause = f"broken YAML: {getattr(error, 'problem', None) or error!s:.60}"
        line = None if mark is None else mark.line + 1
        raise InputError(cause, path=source.path, line=line, fix="export it with -o json") from None


def _items(root: Any) -> list[Any] | None:
    """The items of a list of Kubernetes."""
    if not isinstance(root, yaml.MappingNode):
        return root.value if isinstance(root, yaml.SequenceNode) else None
    held = next((value for key, value in root.value if key.value == "items"), None)
    return held.value if isinstance(held, yaml.SequenceNode) else None


def _value(node: Any, depth: int, known: dict[int, Any]) -> Any:
    """What a node says; `known` keeps what aliases stand for, which is made once."""
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if id(node) not in known:
        known[id(node)] = _construct(node, depth + 1, known)
    return known[id(node)]


def _construct(node: Any, depth: int, known: dict[int, Any]) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {text_of(_value(key, depth, known)): _value(value, depth, known) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(one, depth, known) for one in node.value]
    return None if node.value in ("null", "~", "") and not node.style else node.value


def _open_lists(line: int, value: Any) -> Iterator[tuple[int, Object | None]]:
    if isinstance(value, dict) and isinstance(value.get("items"), list) and not part(value, "spec"):
        for item in value["items"]:
            yield from _open_lists(line, _of_list(item, value))
    elif isinstance(value, dict) and text_of(value.get("kind")):
        yield line, _object(line, value)
    else:
        yield line, None


def _object(line: int, body: dict[str, Any]) -> Object:
    metadata = part(body, "metadata")
    group = text_of(body.get("apiVersion")).rpartition("/")[0]
    names = (text_of(metadata.get(key)) for key in ("namespace", "name", "uid"))
    return Object(text_of(body.get("kind")), group, *names, body, line)
