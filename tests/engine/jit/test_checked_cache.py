"""A damaged file of compiled code is noticed before anything is made of it; its function is compiled again."""

import os
import pickle
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from pointsman.engine.jit.loading import _import_source

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"), reason="without the JIT nothing is compiled"
)

SOURCE = """
from pointsman.engine.jit.compile import apart, entry

@entry("int64(int64)")
def twice(x):
    return 2 * x

@apart("int64(int64)")
def thrice(x):
    return 3 * x
"""
HUGE = pickle.PROTO + b"\x04" + pickle.BINBYTES8 + (1 << 62).to_bytes(8, "little")


class Bomb:
    """Unpickled, it leaves a mark."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("exploded",)


def flipped(content: bytes) -> bytes:
    """With one bit changed in the middle, where the machine code is."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda content: b"",
    "cut at the start": lambda content: content[:10],
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut at the end": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "random": lambda content: random.Random(1).randbytes(len(content)),
    "zeros from the middle": lambda content: content[: len(content) // 2].ljust(len(content), b"\0"),
    "one bit": flipped,
    "a huge length": lambda content: HUGE,
    "another version's": lambda content: pickle.dumps("0.1") + content,
    "a pickle that runs code": lambda content: pickle.dumps(Bomb()),
    "a folder": lambda content: None,
}


def load(folder: Path) -> ModuleType:
    """The module, as a new process would load it, and that it works."""
    for name in [name for name in sys.modules if name.endswith("_small_functions")]:
        del sys.modules[name]
    module = _import_source(folder, "small_functions", SOURCE)
    assert module.twice(21) == 42 and module.thrice.ctypes(14) == 42
    return module


def hits(module: ModuleType) -> tuple[int, int]:
    """How many functions of either kind came from the cache."""
    return sum(module.twice.stats.cache_hits.values()), module.thrice.cache_hits


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled module."""
    folder = tmp_path_factory.mktemp("whole") / "build"
    folder.mkdir()
    assert hits(load(folder)) == (0, 0)
    assert hits(load(folder)) == (1, 1)
    return folder


@pytest.fixture
def build(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to damage."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(whole, tmp_path / "build"))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_what_is_damaged_is_compiled_again(build: Path, suffix: str, damage: str) -> None:
    files = sorted((build / "__pycache__").glob(f"*.{suffix}"))
    assert len(files) == 2
    for file in files:
        content = DAMAGES[damage](file.read_bytes())
        file.unlink()
        file.mkdir() if content is None else file.write_bytes(content)
    assert hits(load(build)) == (0, 0)
    assert hits(load(build)) == (1, 1)
    assert not Path("exploded").exists()


@pytest.mark.parametrize("damage", ["empty", "random", "a folder"])
def test_a_damaged_source_is_written_again(build: Path, damage: str) -> None:
    source = build / "small_functions.py"
    content = DAMAGES[damage](source.read_bytes())
    source.unlink()
    source.mkdir() if content is None else source.write_bytes(content)
    load(build)
    assert source.read_text() == SOURCE


def test_bytecode_that_was_cut(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    load(build)
    (file,) = (build / "__pycache__").glob("*.pyc")
    for length in (0, 10, 16, 100):
        file.write_bytes(file.read_bytes()[:length])
        load(build)
        assert file.stat().st_size > 100


def test_numbas_own_folder_is_not_used(build: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It was not checked: others may write to it."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "numba"))
    assert hits(load(build)) == (1, 1)
    shutil.rmtree(build)
    build.mkdir()
    assert hits(load(build)) == (0, 0)
    assert not (tmp_path / "numba").exists() and len(list((build / "__pycache__").glob("*.nbc"))) == 2
