"""Objects in JSON as rows of text: JSON lines, an array of objects, or an object that holds one such array."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pointsman.errors import InputError
from pointsman.workload.readers.source import Source

_FIX: Final = "give JSON lines, or a list of objects"


def is_json(source: Source) -> bool:
    """Whether the text begins as an object or a list does."""
    return source.utf8.lstrip()[:1] in (b"{", b"[")


def json_records(source: Source) -> Iterator[tuple[int, Any]]:
    """Each element with the line on which it begins; one that is no object is not an error here.

    Raises:
        InputError: broken JSON, or no list of objects.
    """
    text = source.text
    start = len(text) - len(text.lstrip())
    if text[start] == "[":
        return elements(text, start + 1, source.path)
    whole = _single_object(text)
    return _lines(text) if whole is None else _records_in(whole, text, source.path)


def elements(text: str, at: int, path: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list whose bracket is before `at`, each with the line on which it begins.

    Raises:
        InputError: broken JSON.
    """
    decoder, line, counted = json.JSONDecoder(), 1, 0
    while True:
        at = _past(text, at, " \t\r\n,")
        if at >= len(text):
            raise InputError(
                "broken JSON: the list does not end", path=path, line=_line(text, at), fix="is it truncated?"
            )
        if text[at] == "]":
            return
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            cause = f"broken JSON: {getattr(error, 'msg', 'too deep')}"
            fix = "is it truncated?"
            raise InputError(cause, path=path, line=_line(text, getattr(error, "pos", at)), fix=fix) from None
        yield line, value


def _single_object(text: str) -> Any:
    """The only object of a text; None of JSON lines and of what is neither."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, _past(text, 0, " \t\r\n"))
    except (ValueError, RecursionError):
        return None
    several = end < len(text.rstrip())
    return None if several or not isinstance(value, dict) or not _lists_of(value) else value


def _lists_of(value: dict[str, Any]) -> list[list[Any]]:
    return [held for held in value.values() if isinstance(held, list) and any(isinstance(one, dict) for one in held)]


def _records_in(value: dict[str, Any], text: str, path: str) -> Iterator[tuple[int, Any]]:
    lists = _lists_of(value)
    if len(lists) > 1:
        names = ", ".join(f"{key!r:.40}" for key, held in value.items() if held in lists)
        raise InputError(f"the JSON object holds several lists of objects: {names}", path=path, fix=_FIX)
    key = next(key for key, held in value.items() if held is lists[0])
    begun = re.search(
        re.escape(json.dumps(key)) + r"\s*:\s*\[", text
    )  # elsewhere only if a key within is called so, too
    found = list(elements(text, begun.end(), path)) if begun else []
    same = [element for _, element in found] == lists[0]
    return iter(found if same else [(0, element) for element in lists[0]])


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, None


def value_at(record: dict[str, Any], name: str) -> Any:
    """The value of a key, or of keys within keys, `status.startTime`; None if there is none.

    Keys may have dots of their own, as labels of Kubernetes have.
    """
    if name in record:
        return record[name]
    for at in (at for at, letter in enumerate(name) if letter == "."):
        held = record.get(name[:at])
        if isinstance(held, dict) and (found := value_at(held, name[at + 1 :])) is not None:
            return found
    return None


def cell_of(value: Any) -> str | None:
    """What a CSV file would have of a value; of an object or a list with nothing in it, its brackets."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{key}={cell_of(held) or ''}" for key, held in value.items()) or "{}"
    return ",".join(cell_of(one) or "" for one in value) or "[]" if isinstance(value, Sequence) else repr(value)


def _past(text: str, at: int, blanks: str) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
