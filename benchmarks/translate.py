"""The engine's own compiled core, translated to C++ statement by statement.

This answers one question: what does the engine lose because numba and not g++ compiles it? The core is written in a
small part of Python (int64, float64, records, loops, no allocation), each construct of which has one equivalent in C++.
Anything else is an error here, not a guess.
"""

import ast
import importlib
import inspect
import textwrap
from typing import Any

import numpy as np

from pointsman.engine.actions.python_policy_hooks import decide, on_event, on_run
from pointsman.engine.jit.units import MAIN_LOOP, functions_of
from pointsman.engine.state import records
from pointsman.engine.state.records import Int
from pointsman.engine.state.state_pointer import STATE_ARRAYS, WORLD_ARRAYS, open_state

from .translated_views import View, annotated, open_view, view_of_field

PRELUDE = """\
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
typedef int64_t I;
typedef double F;
template <class T> struct Array {
    T* at; I rows, width;
    T& operator()(I i) const { return at[i]; }
    T& operator()(I i, I k) const { return at[i * width + k]; }
    I shape(I) const { return rows; }
};
template <class T> Array<T> open_array(I* directory, I k) {
    return {reinterpret_cast<T*>(directory[3 * k]), directory[3 * k + 1], directory[3 * k + 2]};
}
template <class A, class B> std::common_type_t<A, B> of__least(A a, B b) { return b < a ? b : a; }
template <class A, class B, class... C> auto of__least(A a, B b, C... c) { return of__least(of__least(a, b), c...); }
template <class A, class B> std::common_type_t<A, B> of__most(A a, B b) { return a < b ? b : a; }
template <class A, class B, class... C> auto of__most(A a, B b, C... c) { return of__most(of__most(a, b), c...); }
inline I bits__lowest(I word) { return __builtin_ctzll(word); }
inline I bits__count(I word) { return __builtin_popcountll(word); }
template <class T> inline void handle__prefetch(const Array<T>& rows, I i) {
    for (I begin = 0; begin < I(sizeof(T)); begin += 64) __builtin_prefetch(reinterpret_cast<char*>(&rows(i)) + begin);
}
inline I handle__call_apart(I function, I address, I what, I j) {
    return reinterpret_cast<I (*)(I, I, I)>(function)(address, what, j);
}
"""
C_TYPES = {"i8": "I", "f8": "F", "i4": "int32_t"}
BY_HAND = {
    "lowest": "bits__lowest",
    "count": "bits__count",
    "open_state": "handle__open_state",
    "open_world": "handle__open_world",
    "call_apart": "handle__call_apart",
    "prefetch": "handle__prefetch",
}
CASTS = {"bool": "bool", "np.int64": "I", "np.float64": "F", "float": "F", "int": "I"}
CALLS = {
    "np.ceil": "std::ceil",
    "np.floor": "std::floor",
    "np.sqrt": "std::sqrt",
    "math.ceil": "(I)std::ceil",
    "math.floor": "std::floor",
    "max": "of__most",
    "np.maximum": "of__most",
    "min": "of__least",
    "np.minimum": "of__least",
}
HOLDERS = {
    "S": STATE_ARRAYS, "open_state(address)": STATE_ARRAYS,
    "W": WORLD_ARRAYS, "open_world(address)": WORLD_ARRAYS,
}  # fmt: skip
OPENED = ("handle__open_state(address)", "handle__open_world(address)")
OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Div: "/",
    ast.Eq: "==", ast.NotEq: "!=", ast.And: "&&", ast.Or: "||", ast.Not: "!", ast.USub: "-", ast.Invert: "~",
}  # fmt: skip
RECORDS = {id(getattr(records, n)): n for n in dir(records) if isinstance(getattr(records, n), np.dtype)}


def _structs() -> str:
    """The records and the two tuples of arrays."""
    out = []
    for name in RECORDS.values():
        dtype = getattr(records, name)
        fields = " ".join(f"{C_TYPES[dtype[f].str[1:]]} {f};" for f in dtype.names)
        out.append(f"struct {name} {{ {fields} }};\nstatic_assert(sizeof({name}) == {dtype.itemsize});")
    first = 0
    for tuple_name, arrays in (("State", STATE_ARRAYS), ("World", WORLD_ARRAYS)):
        kinds = {n: RECORDS.get(id(dtype)) or C_TYPES[dtype.str[1:]] for n, (dtype, _) in arrays.items()}
        fields = " ".join(f"Array<{kind}> {n};" for n, kind in kinds.items())
        opened = ", ".join(f"open_array<{kind}>(d, {first + k})" for k, kind in enumerate(kinds.values()))
        out.append(f"struct {tuple_name} {{ {fields} }};")
        out.append(
            f"inline {tuple_name} handle__open_{tuple_name.lower()}(I address) "
            f"{{ I* d = reinterpret_cast<I*>(address); return {{{opened}}}; }}"
        )
        first += len(arrays)
    return "\n".join(out)


def _safe(name: str) -> str:
    return f"{name}_" if name in ("new", "delete", "this", "F", "I") else name


def _name_of(function: Any) -> str:
    return f"{function.__module__.rpartition('.')[2]}__{function.__name__}"


class _Function:
    """The translation of one function; `calls` are the functions it needs."""

    def __init__(self, function: Any, names: dict[str, Any]) -> None:
        self.names, self.calls = names, []
        self.tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(self.tree, ast.FunctionDef)
        self.params = [a.arg for a in self.tree.args.args]
        self.records: set[str] = set()
        self.views = annotated(function)
        self.locals: dict[str, str] = {}
        self.loops = 0
        self.opened = ""
        self.body = self._block(self.tree.body, "    ")

    def text(self, name: str) -> str:
        """The C++ function."""
        kinds = {"S": "const State&", "W": "const World&", "address": "I"}
        params = ", ".join(f"{kinds.get(p, 'auto')} {_safe(p)}" for p in self.params)
        hoisted = "".join(f"    {kind} {_safe(n)}{{}};\n" for n, kind in self.locals.items())
        return f"inline auto {name}({params}) {{\n{self.opened}{hoisted}{self.body}}}\n"

    def _block(self, statements: list[ast.stmt], pad: str) -> str:
        return "".join(self._statement(s, pad) for s in statements)

    def _statement(self, s: ast.stmt, pad: str) -> str:
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
            return ""
        if isinstance(s, ast.Expr):
            return f"{pad}{self._value(s.value)};\n"
        if isinstance(s, ast.Return):
            return f"{pad}return {self._value(s.value) if s.value else ''};\n"
        if isinstance(s, ast.Break | ast.Continue):
            return f"{pad}{type(s).__name__.lower()};\n"
        if isinstance(s, ast.Assign):
            return self._assign(s, pad)
        if isinstance(s, ast.AugAssign) and (view := self._owner(s.target)):
            now = f"({self._value(s.target)} {OPERATORS[type(s.op)]} {self._value(s.value)})"
            return f"{pad}{view.store(self._value(s.target.value), s.target.attr, now)};\n"
        if isinstance(s, ast.AugAssign):
            return f"{pad}{self._value(s.target)} {OPERATORS[type(s.op)]}= {self._value(s.value)};\n"
        if isinstance(s, ast.If):
            other = f"{pad}}} else {{\n{self._block(s.orelse, pad + '    ')}" if s.orelse else ""
            return f"{pad}if ({self._value(s.test)}) {{\n{self._block(s.body, pad + '    ')}{other}{pad}}}\n"
        if isinstance(s, ast.While) and not s.orelse:
            return f"{pad}while ({self._value(s.test)}) {{\n{self._block(s.body, pad + '    ')}{pad}}}\n"
        if isinstance(s, ast.For) and not s.orelse:
            return self._for(s, pad)
        raise NotImplementedError(ast.unparse(s))

    def _assign(self, s: ast.Assign, pad: str) -> str:
        if isinstance(s.targets[0], ast.Tuple) and isinstance(s.value, ast.Tuple) and _one_by_one(s):
            pairs = zip(s.targets[0].elts, s.value.elts, strict=True)
            return "".join(self._assign(ast.Assign([target], value), pad) for target, value in pairs)
        value = self._value(s.value)
        if isinstance(s.targets[0], ast.Name) and value in OPENED:
            self.opened += f"    auto {s.targets[0].id} = {value};\n"
            return ""
        if isinstance(s.targets[0], ast.Tuple):
            return self._unpack(s.targets[0], value, pad)
        out = ""
        for target in s.targets:
            if view := self._owner(target):
                out += f"{pad}{view.store(self._value(target.value), target.attr, value)};\n"
                continue
            if isinstance(target, ast.Name):
                if view := self._view(s.value):
                    self.views[target.id] = view
                if self._is_record(s.value):
                    self.records.add(target.id)
                    value = value if isinstance(s.value, ast.Name) else f"&{value}"
                if target.id not in self.params:
                    self.locals.setdefault(target.id, f"std::decay_t<decltype({value})>")
            out += f"{pad}{self._value(target)} = {value};\n"
        return out

    def _unpack(self, names: ast.Tuple, value: str, pad: str) -> str:
        for k, name in enumerate(names.elts):
            self.locals.setdefault(ast.unparse(name), f"std::tuple_element_t<{k}, decltype({value})>")
        return f"{pad}std::tie({', '.join(self._value(name) for name in names.elts)}) = {value};\n"

    def _for(self, s: ast.For, pad: str) -> str:
        assert isinstance(s.iter, ast.Call) and ast.unparse(s.iter.func) == "range"
        assert isinstance(s.target, ast.Name)
        args = [self._value(a) for a in s.iter.args]
        start, stop = (args[0], args[1]) if len(args) > 1 else ("I(0)", args[0])
        i = "unused" if s.target.id == "_" else s.target.id
        self.locals.setdefault(i, "I")
        down = len(args) == 3
        assert not down or ast.unparse(s.iter.args[2]) == "-1"
        test, step = (">", "--") if down else ("<", "++")
        self.loops += 1
        end = f"end_{self.loops}"
        head = f"{i} = {start}; for (I {end} = {stop}; {i} {test} {end}; {i}{step})"
        return f"{pad}{head} {{\n{self._block(s.body, pad + '    ')}{pad}}}\n"

    def _view(self, node: ast.expr) -> View | None:
        """What record of named numbers an expression is."""
        if isinstance(node, ast.Name):
            return self.views.get(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return open_view(self.names.get(node.func.id))
        view = self._owner(node)
        return view_of_field(view, node.attr) if view and isinstance(node, ast.Attribute) else None

    def _owner(self, node: ast.expr) -> View | None:
        """That of which an expression is a number."""
        return self._view(node.value) if isinstance(node, ast.Attribute) else None

    def _is_record(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.records
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            return False
        arrays = HOLDERS.get(ast.unparse(node.value.value), {})
        return node.value.attr in arrays and id(arrays[node.value.attr][0]) in RECORDS

    def _value(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return self._literal(node.value)
        if isinstance(node, ast.Name):
            return self._variable(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
                return f"{self._value(node.value.value)}.shape({self._value(node.slice)})"
            index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return f"{self._value(node.value)}({', '.join(map(self._value, index))})"
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left), self._value(node.right)
            if isinstance(node.op, ast.Div):
                return f"(F({left}) / {right})"
            if isinstance(node.op, ast.Pow):
                return f"std::pow({left}, {right})"
            return f"({left} {OPERATORS[type(node.op)]} {right})"
        if isinstance(node, ast.UnaryOp):
            return f"({OPERATORS[type(node.op)]}{self._value(node.operand)})"
        if isinstance(node, ast.BoolOp):
            return "(" + f" {OPERATORS[type(node.op)]} ".join(map(self._value, node.values)) + ")"
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.IfExp):
            return f"({self._value(node.test)} ? {self._value(node.body)} : {self._value(node.orelse)})"
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Tuple):
            return f"std::make_tuple({', '.join(f'F({self._value(x)})' for x in node.elts)})"
        raise NotImplementedError(ast.unparse(node))

    @staticmethod
    def _literal(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if value == np.inf:
            return "F(INFINITY)"
        return f"F({value!r})" if isinstance(value, float) else f"I({int(value)}LL)"

    def _variable(self, name: str) -> str:
        if name in self.names and name not in self.locals and name not in self.params and name not in self.records:
            value = self.names[name]
            if isinstance(value, int | float):
                return self._literal(value)
        return _safe(name)

    def _attribute(self, node: ast.Attribute) -> str:
        text = ast.unparse(node)
        if text == "np.inf":
            return self._literal(np.inf)
        owner = self._value(node.value)
        if view := self._owner(node):
            return view.load(owner, node.attr)
        if isinstance(node.value, ast.Name) and owner not in ("S", "W"):
            return f"{owner}->{node.attr}"
        return f"{owner}.{node.attr}"

    def _opened(self, name: str) -> View | None:
        """The record that a function opens, if it does nothing else."""
        record = getattr(self.names.get(name), "record", None)
        return View(record) if record else None

    def _compare(self, node: ast.Compare) -> str:
        sides = [self._value(x) for x in (node.left, *node.comparators)]
        links = [f"{a} {OPERATORS[type(op)]} {b}" for a, op, b in zip(sides, node.ops, sides[1:], strict=False)]
        return "(" + " && ".join(links) + ")"

    def _call(self, node: ast.Call) -> str:
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "view":  # of a scalar's bits
            to = {"np.int64": "I", "np.float64": "F"}[ast.unparse(node.args[0])]
            return f"__builtin_bit_cast({to}, {self._value(node.func.value)})"
        args = [("&" if self._is_record(a) and not isinstance(a, ast.Name) else "") + self._value(a) for a in node.args]
        if name in CASTS:
            return f"{CASTS[name]}({args[0]})"
        if name in CALLS:
            return f"{CALLS[name]}({', '.join(args)})"
        if name in BY_HAND:
            return f"{BY_HAND[name]}({', '.join(args)})"
        if view := self._opened(name):
            return view.opened(args)
        function = self.names[name]
        self.calls.append(function)
        return f"{_name_of(function)}({', '.join(args)})"


def _one_by_one(s: ast.Assign) -> bool:
    """Whether no value of an assignment of several has a name to which it assigns."""
    assigned = {node.id for node in ast.walk(s.targets[0]) if isinstance(node, ast.Name)}
    return not assigned & {node.id for node in ast.walk(s.value) if isinstance(node, ast.Name)}


def _event(address: Int, kind: Int, j: Int) -> None:
    on_event(open_state(address), kind, j)


def _rated(address: Int, j: Int) -> None:
    on_run(open_state(address), j)


def _decide(address: Int) -> None:
    decide(open_state(address))


DIRECTLY = {"_event": _event, "_rated": _rated, "_decide": _decide}
"""The engine calls a policy's hooks by their addresses; one program has them inside."""


def translate(hooks: str) -> str:
    """The C++ source of the loop with the hooks of the module `hooks`; it exports ``run`` as the compiled loop does."""
    run = functions_of(MAIN_LOOP)["run"]
    policy = importlib.import_module(hooks)
    own = {name: getattr(policy, name) for name in ("decide", "on_event", "on_run")}
    done: dict[Any, str] = {}

    def visit(function: Any) -> None:
        if function in done:
            return
        done[function] = ""
        inside = own if function in DIRECTLY.values() else DIRECTLY
        made = _Function(function, {**function.__globals__, **inside})
        del done[function]
        for needed in made.calls:
            visit(needed)
        done[function] = made.text(_name_of(function))

    visit(run)
    exported = (
        f'extern "C" I run(I address, I until, I decisions) {{ return {_name_of(run)}(address, until, decisions); }}'
    )
    return "\n".join([PRELUDE, _structs(), *done.values(), exported, ""])
