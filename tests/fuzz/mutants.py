"""Damaged copies of files, each from a number alone."""

import csv
import io
import json
import random
from collections.abc import Sequence
from typing import Any

import yaml

ODD_BYTES = [
    *(b"", b",", b"\t", b"|", b"\n", b"\r", b"\r\n", b'"', b"'", b";", b":", b"\0", b"\x1b[31m", b"\xff\xfe"),
    *(b"-1", b"0", b"-0.0", b"1.5", b"1e400", b"nan", b".inf", b"-inf", b"9" * 20, b"9" * 5000, b"1_000", b"0x7f"),
    *(b"2017-13-45 99:99:99", b"0001-01-01 00:00:00", b"9999-12-31T23:59:59+99:99", b"2020-99-99", b"None", b"null"),
    *(b"[", b"{", b"]", b"}", b"[" * 3000, b"{a: " * 800, b"- " * 500, b"&a [*a]", b"*b", b"<<: *a", b"!!int x"),
    *(b"!!timestamp 5", b"!!python/object:os.system", b"\n---\n", b"%TAG ! x", b"? ", b"a=", b"[[a]]\n", b"a.b = 1\n"),
    *("é١＝".encode(), "\u2028\u200b\U0001f680".encode(), "ß".encode("latin-1"), "jobs".encode("utf-16")),
    *(b"\xef\xbb\xbf", b"1e-320", b"~", b"!!binary x", b"\xed\xa0\x80"),
]  # fmt: skip
ODD_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, -0.0, 1e308, float("inf"), float("nan"), 10**18, 10**400, -(2**63), 2**64),
    *("", "x", "0", "-1", "nan", "none", "10Gbps", "1e400", "9" * 5000, "a" * 300, "../..", "/dev/null", "é\n\t\0b"),
    *([], {}, [[]], [None], {"": ""}, [0] * 50, [1, "a", None], {"a": {"b": {"c": []}}}, {1: 2, None: 3}),
]


def mutant(seed: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """`seed` with one to four faults; parts of `others` may be spliced in."""
    data = seed
    for _ in range(draw.choice((1, 1, 2, 3, 4))):
        ways = [_flipped, _odd, _odd, _truncated, _repeated, _spliced, _table, _table, _tree, _tree, _encoded]
        data = draw.choice(ways)(data, others, draw)
    return data


def _span(data: bytes, draw: random.Random, most: int = 40) -> tuple[int, int]:
    start = draw.randint(0, len(data))
    return start, min(len(data), start + draw.randint(0, most))


def _flipped(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 8) if data else 0):
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _odd(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    start, end = _span(data, draw)
    return data[:start] + draw.choice(ODD_BYTES) + data[draw.choice((start, end)) :]


def _truncated(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    start, end = _span(data, draw, 400)
    return draw.choice((data[:start], data[start:], data[:start] + data[end:]))


def _repeated(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    start, end = _span(data, draw, 200)
    return data[:end] + data[start:end] * draw.choice((1, 2, 30)) + data[end:]


def _spliced(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    other = draw.choice(others)
    start, end = _span(other, draw, 500)
    at = draw.randint(0, len(data))
    return data[:at] + other[start:end] + data[draw.choice((at, len(data))) :]


def _encoded(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    try:
        return data.decode().encode(draw.choice(("utf-16", "utf-8-sig", "utf-32-le", "utf-7", "cp037")))
    except UnicodeError:
        return data[::-1] if draw.random() < 0.1 else data


def _table(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """With a column that is there twice or not at all, under another name or full of something else."""
    delimiter = max(",\t|", key=lambda one: data[:2000].count(one.encode()))
    try:
        rows = list(csv.reader(io.StringIO(data.decode()), delimiter=delimiter))
    except (ValueError, csv.Error):
        return data
    if len(rows) < 2 or len(rows[0]) < 2:
        return data
    column, row = draw.randrange(len(rows[0])), draw.randrange(len(rows))
    odd = draw.choice(ODD_BYTES).decode(errors="replace")
    way = draw.randrange(6)
    for k, cells in enumerate(rows):
        if column >= len(cells):
            continue
        if way == 0:
            cells.append(cells[column])
        elif way == 1:
            del cells[column]
        elif (way == 2 and k == 0) or (way == 3 and k > 0) or (way == 4 and k == row):
            cells[column] = odd
    if way == 5:
        rows = [rows[0], *draw.sample(rows, len(rows))]
    return "\n".join(delimiter.join(cells) for cells in rows).encode(errors="replace")


def _tree(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """Of YAML or JSON: with a part of another type, gone, under another name, or nested in itself."""
    if len(data) > 20_000:
        return data
    try:
        text = data.decode()
        is_json = text.lstrip().startswith(("{", "["))
        root = json.loads(text) if is_json else yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except Exception:  # PyYAML's own loader has more ways to fail than it says
        return data
    try:
        places = list(_places(root))
    except RecursionError:
        return data
    if not places:
        return data
    holder, key = draw.choice(places)
    way = draw.randrange(6)
    if way < 3:
        holder[key] = draw.choice(ODD_VALUES)
    elif way == 3:
        del holder[key]
    elif way == 4:
        holder[key] = [holder[key]]
    elif isinstance(holder, dict):
        holder[draw.choice(["", "spec", "name", "x", 5, None])] = holder.pop(key)
    try:
        return (json.dumps(root) if is_json else yaml.safe_dump(root, sort_keys=False)).encode(errors="replace")
    except Exception:
        return data


def _places(node: Any) -> Any:
    """Every part of a tree, as what holds it and its key there."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])
