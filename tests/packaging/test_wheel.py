"""What is built can be installed and used without the repository: data files, templates and weights are in it."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
JOBS = "submit_s,gpus,duration_s,model\n" + "".join(f"{30 * i},{1 + i % 4},{60 + i},resnet50\n" for i in range(40))


def done(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; it must succeed."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment
    ran = subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, f"{command}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
    return ran.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


def files_of_the_package() -> set[str]:
    found = (path for path in (SOURCES / "pointsman").rglob("*") if path.is_file())
    return {path.relative_to(SOURCES).as_posix() for path in found if path.parent.name != "__pycache__"}


def wheel_in(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_every_file_of_the_package_and_no_other(built: Path) -> None:
    held = {name for name in contents(wheel_in(built)) if ".dist-info/" not in name}
    assert held == files_of_the_package() | {"pointsman/built/core.json", "pointsman/built/core.so"}


def test_an_index_of_packages_shows_the_readme_without_links_to_files(built: Path) -> None:
    (metadata,) = (text for name, text in contents(wheel_in(built)).items() if name.endswith("/METADATA"))
    _, readme = metadata.decode().split("\n\n", 1)
    assert readme.startswith("# Pointsman\n")
    assert "## Five lines of Python" in readme and "Some forty policies are built in" in readme
    assert re.findall(r"\]\((?!https?:)[^)]*\)", readme) == []


@pytest.mark.slow
def test_the_sdist_makes_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    for name in ("Makefile", "requirements.lock", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"):
        assert (unpacked / name).is_file(), f"add {name} to the sdist in pyproject.toml"
    done(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=unpacked)
    assert contents(wheel_in(tmp_path)) == contents(wheel_in(built))


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel. Other packages are those of this environment, for time's sake:
    `make wheel` installs them too.
    """
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    programs = home / "bin"
    done(
        sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet",
        "--no-deps", "--no-index", "--disable-pip-version-check", wheel_in(built), cwd=home,
    )  # fmt: skip
    own = done(programs / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip()
    # The folder goes onto the path, but no .pth file in it is read: that of the editable install is one
    (Path(own) / "theirs.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def test_the_installed_wheel_simulates_and_writes_its_page(installed: Path, tmp_path: Path) -> None:
    where = done(installed / "python", "-c", "import pointsman; print(pointsman.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert "pointsman 0." in done(installed / "pointsman", "--version", cwd=tmp_path)
    (tmp_path / "jobs.csv").write_text(JOBS)
    done(installed / "pointsman", "simulate", "jobs.csv", "--cluster", "philly", "--policy", "dally", "-o", "run",
         cwd=tmp_path)  # fmt: skip
    page = (tmp_path / "run" / "report.html").read_text()
    assert "dally" in page and "<svg" in page


WITHOUT_A_COMPILER = """
import subprocess, sys
sys.modules["numba"] = sys.modules["llvmlite"] = subprocess.Popen.__init__ = None
from pointsman.cli import main
main()
"""


@pytest.mark.parametrize("policy", ["dally", "metarl:none"])
def test_a_run_needs_no_compiler_no_home_and_no_folder_of_compiled_code(
    installed: Path, tmp_path: Path, policy: str
) -> None:
    """The package may belong to another user, as it does in many installations."""
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "empty").mkdir()
    package = next(installed.parent.rglob("site-packages/pointsman"))
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*") if path.name != "__pycache__"}
    done(
        *(installed / "python", "-c", WITHOUT_A_COMPILER, "simulate", "jobs.csv"),
        *("--cluster", "8x4", "--policy", policy),
        cwd=tmp_path, HOME=str(tmp_path / "none"), POINTSMAN_HOME="", XDG_CACHE_HOME="", TMPDIR=str(tmp_path / "empty"),
    )  # fmt: skip
    assert list((tmp_path / "empty").iterdir()) == []
    after = {path: path.stat().st_mtime_ns for path in package.rglob("*") if path.suffix != ".pyc"}
    assert {path: when for path, when in after.items() if path.name != "__pycache__"} == {
        path: when for path, when in before.items() if path.suffix != ".pyc"
    }


def test_it_is_for_this_platform_and_every_python(built: Path) -> None:
    assert re.fullmatch(r"pointsman-.*-py3-none-(manylinux_2_17|macosx)_\w+\.whl", wheel_in(built).name)


@pytest.mark.parametrize(
    "command",
    [
        "suite run --dry-run",
        "profile show resnet50",
        "cluster show dgx-a100-superpod",
        "trace generate --like helios --jobs 50 --cluster 4x8 -o helios.csv",
        "policy show topdrl",
    ],
)
def test_data_files_are_found_in_the_installed_wheel(installed: Path, tmp_path: Path, command: str) -> None:
    done(installed / "pointsman", *command.split(), cwd=tmp_path)
