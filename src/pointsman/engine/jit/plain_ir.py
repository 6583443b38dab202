"""How numba compiles the core: helpers are kept as plain IR, and only what is called from outside becomes machine code.

numba would optimise every helper by itself and make machine code of it, with all that it calls inside, only to do so
again within its callers. Here a helper is lowered to IR and no more; a unit (`Linked`) links all helpers below it once
and runs LLVM's optimiser once. This relies on numba's inner classes, so its version is pinned
(``tests/engine/jit/test_plain_ir.py`` tests what is relied on).
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from llvmlite import binding
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass

_WRAPPERS = ("wrapper", "cfunc_wrapper")
"""What numba calls the modules of the wrappers by which Python and C call a function."""


def can_be_kept(function: Any) -> bool:
    """Whether any process finds this function again by its module and its name."""
    return function.__module__.startswith("pointsman.") and "<" not in function.__qualname__


def _below(libraries: Iterable[Any], found: dict[Any, None]) -> dict[Any, None]:
    """All libraries that these need, each once; of numba's own those below are inside them already."""
    for library in libraries:
        if library not in found:
            found[library] = None
            if isinstance(library, PlainIR):
                _below(library._linking_libraries, found)
    return found


def _absorb(module: Any, libraries: Iterable[Any]) -> None:
    """Link functions of numba's own into `module` for its use alone: their names are of this process."""
    own = {function.name for function in module.functions if not function.is_declaration}
    _link(module, libraries)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"


def _link(module: Any, libraries: Iterable[Any]) -> None:
    """Link libraries into `module`: ours first, for of numba's own only what is referred to by then is taken."""
    for library in sorted(libraries, key=lambda library: not isinstance(library, PlainIR)):
        plain = isinstance(library, PlainIR)
        module.link_in(library._final_module if plain else library._get_module_for_linking(), preserve=True)


class PlainIR(JITCodeLibrary):  # type: ignore[misc]
    """The IR of one helper. The helpers that it calls are linked in by the unit that needs both."""

    helper: Any = None
    """By what it is found again on disk (`kept_helpers`); None if it is not kept."""

    @classmethod
    def restored(cls, codegen: Any, bitcode: bytes, calls: Iterable["PlainIR"], needs: Iterable[Any]) -> "PlainIR":
        """The library of a helper that was kept: its IR, the helpers that it calls, and what a unit must run for it."""
        self = cls(codegen, "kept")
        self._final_module = binding.parse_bitcode(bitcode)
        self._linking_libraries = list(calls)
        self._reload_init.update(needs)
        self._finalized = True
        return self

    def calls(self) -> list["PlainIR"]:
        """The helpers that it calls."""
        self._ensure_finalized()
        return list(dict.fromkeys(self._linking_libraries))

    def addresses(self) -> list[int]:
        """What addresses of this process are in its IR."""
        self._ensure_finalized()
        return [
            int(name.removeprefix("numba.dynamic.globals.").partition(".")[0], 16) for name in self._dynamic_globals
        ]

    def _optimize_functions(self, ll_module: Any) -> None:
        """Not here: the unit optimises all at once."""
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Leave the IR as it is, with numba's own functions inside."""
        self._raise_if_finalized()
        numbas = [library for library in self._linking_libraries if not isinstance(library, PlainIR)]
        _absorb(self._final_module, dict.fromkeys(numbas))
        self._linking_libraries = [each for each in self._linking_libraries if isinstance(each, PlainIR)]
        self._finalize_dynamic_globals()
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

    def _get_module_for_linking(self) -> Any:
        """With all below, for a function that numba compiles its own way (tests have some)."""
        if self._shared_module is None:
            module = self._final_module.clone()
            _link(module, [library for library in _below([self], {}) if library is not self])
            for function in module.functions:
                if not function.is_declaration and function.linkage == binding.Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module


class Linked(JITCodeLibrary):  # type: ignore[misc]
    """A unit that is called from outside: it and all helpers below it, optimised together."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._called_from_outside: set[str] = set()

    def add_ir_module(self, ir_module: Any) -> None:
        """Add IR: the function of this unit, or a wrapper, by which it is called and which may have it inside."""
        if ir_module.name in _WRAPPERS:
            for function in ir_module.functions:
                if not function.is_declaration:
                    self._called_from_outside.add(function.name)
                for block in function.blocks:
                    for instruction in block.instructions:
                        if "noinline" in getattr(instruction, "attributes", ()):
                            instruction.attributes.discard("noinline")
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        """Link, optimise, make machine code."""
        below = _below(self._linking_libraries, {})
        for library in below:
            self._reload_init.update(library._reload_init)
        _link(self._final_module, below)
        unit = min(self._called_from_outside)
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._called_from_outside:
                function.linkage = "internal"
                function.name = f"{unit}.{function.name}"  # LLVM looks for a function of a name in all units
        for load in self._reload_init:
            load()
        linked, self._linking_libraries = self._linking_libraries, []
        super().finalize()
        self._linking_libraries = linked

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)


class _MakeLibrary(LoweringPass):  # type: ignore[misc]
    """Have the function lowered into a library of ours."""

    library: ClassVar[type[JITCodeLibrary]]

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _NameForAll(LoweringPass):  # type: ignore[misc]
    """Name a helper the same in all processes, if its module and its own name tell it from all others."""

    _name = "name_for_all"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        if can_be_kept(state.func_id.func):
            state.func_id.unique_id = 0
            state.func_id.unique_name = state.func_id.func_qualname
        return False


@register_pass(mutates_CFG=True, analysis_only=False)
class _MakePlainIR(_MakeLibrary):
    _name = "make_plain_ir"
    library = PlainIR


@register_pass(mutates_CFG=True, analysis_only=False)
class _MakeLinked(_MakeLibrary):
    _name = "make_linked"
    library = Linked


@register_pass(mutates_CFG=False, analysis_only=True)
class _NoteServices(LoweringPass):  # type: ignore[misc]
    """Note what must be loaded before this unit is, in this process and in any that finds it in the cache."""

    _name = "note_services"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library._ensure_finalized()
        state.reload_init[:] = state.library._reload_init
        return True


_FRONT = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.AnnotateTypes,
)
"""Of numba's passes those that the core needs."""


class _Compiler(CompilerBase):  # type: ignore[misc]
    passes: ClassVar[tuple[type, ...]]

    def define_pipelines(self) -> list[PassManager]:
        """Ours."""
        manager = PassManager("pointsman")
        for each in self.passes:
            manager.add_pass(each, "")
        manager.finalize()
        return [manager]


class HelperCompiler(_Compiler):
    """For what is compiled into its callers."""

    passes = (_NameForAll, *_FRONT, _MakePlainIR, typed_passes.NativeLowering, typed_passes.NoPythonBackend)


class UnitCompiler(_Compiler):
    """For what is called from Python, or by its address."""

    passes = (*_FRONT, _MakeLinked, typed_passes.NativeLowering, _NoteServices, typed_passes.NoPythonBackend)
