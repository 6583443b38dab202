"""Where a source can be mutated: comparisons, thresholds, roundings and ties."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
ROUNDINGS = {"floor": "ceil", "ceil": "floor", "round": "ceil", "rint": "ceil"}
TIES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "minimum": "maximum", "maximum": "minimum"}
SWAPPED = {"left": "right", "right": "left"}
"""Of ``side=``."""
ORDERS = ("descending", "reverse", "nulls_last", "maintain_order", "stable")
"""Keywords that say how is sorted."""
KINDS = ("comparison", "threshold", "rounding", "tie")


@dataclass(frozen=True)
class Point:
    """One mutant: what stands at a place of a source, and what it becomes. Columns count bytes."""

    file: str
    """Within the package."""
    kind: str
    line: int
    column: int
    end: int
    after: str
    lines: tuple[int, int]
    """First and last of the statement that it is in."""

    def applied(self, source: bytes) -> bytes:
        lines = source.splitlines(keepends=True)
        old = lines[self.line - 1]
        lines[self.line - 1] = old[: self.column] + self.after.encode() + old[self.end :]
        return b"".join(lines)

    def told(self, source: bytes) -> str:
        """The line before and after."""
        old, new = (text.splitlines()[self.line - 1].decode().strip() for text in (source, self.applied(source)))
        return f"{self.file}:{self.line}  {old}  →  {new}"


def points_of(file: str, source: bytes) -> Iterator[Point]:
    """All of one file, in order."""
    tree = ast.parse(source)
    text = source.splitlines()
    for statement, node in _expressions(tree):
        first, last = statement.lineno, _header_end(statement)
        for kind, line, column, end, after in _changes(node, text):
            yield Point(file, kind, line, column, end, after, (first, last))


def _header_end(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None)
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno


def _expressions(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Each expression that is evaluated, and the innermost statement that it is in; but no annotations."""
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt):
            continue
        skipped = {id(n) for name in ("annotation", "returns") for n in [getattr(statement, name, None)] if n}
        for arguments in [statement.args] if isinstance(statement, ast.FunctionDef) else []:
            skipped |= {id(a.annotation) for a in [*arguments.args, *arguments.kwonlyargs] if a.annotation}
        ahead = [child for child in ast.iter_child_nodes(statement) if id(child) not in skipped]
        while ahead:
            node = ahead.pop()
            if isinstance(node, ast.stmt) or id(node) in skipped:
                continue
            if isinstance(node, ast.expr):
                yield statement, node
            ahead += list(ast.iter_child_nodes(node))


Change = tuple[str, int, int, int, str]


def _changes(node: ast.expr, text: list[bytes]) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        yield from _comparisons(node, text)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.end_lineno == node.lineno:
        yield "threshold", node.lineno, node.col_offset, node.end_col_offset or 0, _other_number(node.value)
    elif isinstance(node, ast.Call):
        yield from _calls(node)


def _comparisons(node: ast.Compare, text: list[bytes]) -> Iterator[Change]:
    """The operator stands between its operands, perhaps with brackets."""
    left: ast.expr = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if type(operator) in COMPARISONS and left.end_lineno == right.lineno:
            before, after = COMPARISONS[type(operator)]
            start = left.end_col_offset or 0
            column = text[right.lineno - 1].find(before.encode(), start, right.col_offset)
            if column >= 0:
                yield "comparison", right.lineno, column, column + len(before), after
        left = right


def _other_number(value: float) -> str:
    if isinstance(value, int):
        return str(value + 1)
    return repr(value * 1.5 if value else 1.0)


def _calls(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    end = node.func.end_col_offset or 0
    line = node.func.end_lineno or node.lineno
    for kind, others in (("rounding", ROUNDINGS), ("tie", TIES)):
        if name in others and not (kind == "rounding" and isinstance(node.func, ast.Name)):
            yield kind, line, end - len(name), end, others[name]
    if isinstance(node.func, ast.Name) and name == "round" and len(node.args) == 1:
        yield "rounding", line, end - len(name), end, "int"
    for keyword in node.keywords:
        value = keyword.value
        if not isinstance(value, ast.Constant) or value.end_lineno != value.lineno:
            continue
        at = value.lineno, value.col_offset, value.end_col_offset or 0
        if keyword.arg in ORDERS and isinstance(value.value, bool):
            yield "tie", *at, str(not value.value)
        elif keyword.arg == "side" and value.value in SWAPPED:
            yield "tie", *at, repr(SWAPPED[value.value])


def all_points(package: Path) -> list[Point]:
    """Of every source of the package."""
    return [
        point
        for path in sorted(package.rglob("*.py"))
        for point in points_of(path.relative_to(package).as_posix(), path.read_bytes())
    ]
