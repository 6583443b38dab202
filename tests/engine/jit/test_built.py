"""The library that a wheel has: used where it is whole and runs here, refused with a sentence where not."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from pointsman.engine.jit import built, loaded, target
from pointsman.engine.jit.build import known, missing, prepare
from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.store import read_object
from pointsman.engine.jit.target import runs_here
from pointsman.errors import RunError
from pointsman.whole_core import _link
from tests.engine.jit.compiled import environment

from .test_lowering import NESTED

pytestmark = pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled")


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A library of one small unit, as if the package had come with it."""
    prepare([NESTED])
    made = [read_object(facts.digest) for _, facts in sorted(known(NESTED).items())]
    path = tmp_path / built.LIBRARY
    try:
        _link(path, [each.code for each in made if each])
    except RunError as error:
        pytest.skip(str(error))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    told = {"target": target.target(), "sha256": digest, "units": {NESTED: sorted(known(NESTED))}}
    (tmp_path / built.TABLE).write_text(json.dumps(told))
    caches = (built.table, built.library, loaded._of_library)
    for cached in caches:
        cached.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(built, "FOLDER", tmp_path)
        yield path
    for cached in caches:
        cached.cache_clear()


def test_what_the_package_came_with_is_not_compiled(library: Path) -> None:
    assert built.is_shipped(NESTED) and missing([NESTED]) == []
    found = unit(NESTED)
    assert (found.total(3, 5), found.by_symbol(3, 5, 100)) == (20, 120)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"units": {}}'])
def test_a_damaged_table_is_refused(library: Path, content: str) -> None:
    library.with_name(built.TABLE).write_text(content)
    with pytest.raises(RunError, match=r"core\.json is damaged: install Pointsman again"):
        unit(NESTED)


def test_a_damaged_library_is_refused(library: Path) -> None:
    library.write_bytes(library.read_bytes()[:-1])
    with pytest.raises(RunError, match=r"core\.so is damaged, or of another version: install Pointsman again"):
        unit(NESTED)


def test_a_library_that_is_gone_is_refused(library: Path) -> None:
    library.unlink()
    with pytest.raises(RunError, match=r"core\.so: No such file or directory: install Pointsman again"):
        unit(NESTED)


def test_a_library_of_another_system_is_refused(library: Path) -> None:
    library.write_bytes(b"\xcf\xfa\xed\xfe" + bytes(1000))  # as macOS has them
    table = json.loads((library.parent / built.TABLE).read_text())
    table["sha256"] = hashlib.sha256(library.read_bytes()).hexdigest()
    (library.parent / built.TABLE).write_text(json.dumps(table))
    with pytest.raises(RunError, match=r"cannot be loaded .*: install Pointsman again"):
        unit(NESTED)


def test_an_older_processor_is_told_what_to_do(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "runs_here", lambda level: False)
    with pytest.raises(RunError, match=r"this processor cannot run .*, which is for x86-64-v.: one that is built"):
        unit(NESTED)


@pytest.mark.parametrize(
    ("told", "level"),
    [
        ("flags\t\t: fpu sse4_2 ssse3 popcnt cx16 avx avx2 bmi1 bmi2 f16c fma movbe\n", "x86-64-v3"),
        ("flags\t\t: fpu sse4_2 ssse3 popcnt cx16 avx\n", "x86-64-v2"),
        ("flags\t\t: fpu sse2\n", "x86-64"),
    ],
)
def test_the_level_of_a_processor(told: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    monkeypatch.setattr(target, "_abilities", lambda: set(told.split()))
    monkeypatch.setattr(target.platform, "machine", lambda: "x86_64")
    assert target.target.__wrapped__() == level
    assert runs_here("x86-64-v3") == (level == "x86-64-v3")
    assert runs_here("x86-64") and runs_here("generic")


def test_where_it_cannot_be_found_out_machine_code_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_abilities", set)
    assert runs_here("x86-64-v3")


def test_without_a_compiler_what_must_be_compiled_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POINTSMAN_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(RunError, match=rf"{NESTED} must be compiled, .*: pip install 'pointsman\[compile\]'"):
        prepare([NESTED])


def test_nothing_here_imports_a_compiler(library: Path) -> None:
    """A user's process has machine code, and neither Numba nor LLVM."""
    code = f"""
import sys
from pathlib import Path
from pointsman.engine.jit import built
built.FOLDER = Path({str(library.parent)!r})
from pointsman.engine.jit.loaded import unit
assert unit({NESTED!r}).total(3, 5) == 20
print([name for name in ("numba", "llvmlite") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
