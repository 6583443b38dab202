"""How Numba lowers the core, in the process that compiles: helpers are kept as plain IR, and `emit` makes one object of
an exported function and all helpers below it.

Numba would optimise every helper by itself and make machine code of it, with all that it calls inside, only to do so
again within its callers. Here a helper is lowered and no more. This relies on Numba's inner classes, so its version is
pinned (``tests/engine/jit/test_lowering.py`` tests what is relied on).
"""

import sys
from collections.abc import Iterable
from typing import Any

from llvmlite import binding
from numba.core import typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass

FLAGS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "nogil": True}
"""``_nrt=False`` switches reference counting off: a function of the core may not allocate."""
TYPES: dict[str, Any] = {}
"""Numba's objects of types of arguments beside its own, by name."""


class PlainIR(JITCodeLibrary):  # type: ignore[misc]
    """The IR of one helper. The helpers that it calls are linked in by what needs both."""

    helper: Any = None
    """By what it is found again in any process (`kept_helpers`); None if it is not."""

    @classmethod
    def restored(cls, codegen: Any, bitcode: bytes, calls: Iterable["PlainIR"]) -> "PlainIR":
        """The library of a helper that was kept: its IR, and the helpers that it calls."""
        self = cls(codegen, "kept")
        self._final_module = binding.parse_bitcode(bitcode)
        self._linking_libraries = list(calls)
        self._finalized = True
        return self

    def calls(self) -> list["PlainIR"]:
        """The helpers that it calls."""
        self._ensure_finalized()
        return list(dict.fromkeys(self._linking_libraries))

    def _optimize_functions(self, ll_module: Any) -> None:
        """Not here: all is optimised at once."""
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Leave the IR as it is, with Numba's own functions inside, for its use alone: their names are of this
        process.
        """
        self._raise_if_finalized()
        own = {function.name for function in self._final_module.functions if not function.is_declaration}
        for library in dict.fromkeys(self._linking_libraries):
            if not isinstance(library, PlainIR):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in own:
                function.linkage = "internal"
        self._linking_libraries = [each for each in self._linking_libraries if isinstance(each, PlainIR)]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code."""
        return 0

    @property
    def codegen(self) -> "PlainIR":
        """The one who would set an environment in machine code."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing, for there is no machine code yet."""


def modules_below(libraries: Iterable[PlainIR], found: dict[PlainIR, None]) -> Iterable[Any]:
    """The IR of these helpers and of all that they call, each once, in the order in which they are called."""
    for library in libraries:
        if library not in found:
            found[library] = None
            library._ensure_finalized()
            yield library._final_module
            yield from modules_below(library._linking_libraries, found)


def find_named(module: str, name: str) -> Any:
    """What has this name in a module; None if nothing has."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def is_found_by_name(function: Any) -> bool:
    """Whether any process finds Numba's object of a function by its module and its name: no other one has taken it."""
    return getattr(find_named(function.__module__, function.__qualname__), "py_func", None) is function


@register_pass(mutates_CFG=True, analysis_only=False)
class _MakePlainIR(LoweringPass):  # type: ignore[misc]
    """Have the function lowered into a library of ours, under a name that is the same in all processes."""

    _name = "make_plain_ir"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        identity = state.func_id
        if is_found_by_name(identity.func):
            identity.unique_id, identity.unique_name = 0, identity.func_qualname
        state.library = PlainIR(state.targetctx.codegen(), identity.func_qualname)
        return True


_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.AnnotateTypes,
    _MakePlainIR,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
"""The compiler passes of the core: those of Numba that it needs, and our own."""


class Compiler(CompilerBase):  # type: ignore[misc]
    """For what is compiled into its callers."""

    def define_pipelines(self) -> list[PassManager]:
        """Ours."""
        manager = PassManager("pointsman")
        for each in _PASSES:
            manager.add_pass(each, "")
        manager.finalize()
        return [manager]


def parse_signature(text: str) -> Any:
    """Numba's object of a signature."""
    return eval(text, TYPES, vars(types))
