import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pointsman.cli.run import run


class Done(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Done]
Once = Callable[[str, Callable[[], None]], None]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "POINTSMAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: False)  # a page takes seconds; one test makes one
    return tmp_path


REPLAYS = ("simulate", "sim", "compare", "capacity")
FREE = ("--overheads", "none")
SAYS_ITSELF = ("--overheads", "-c", "--config", "--help", "-h")


@pytest.fixture
def command(here: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command in this process, in an empty working directory. Starting and stopping jobs is free unless the
    command says otherwise, so that times can be worked out by hand.
    """

    def done(*args: str) -> Done:
        free = () if args[:1] not in [(name,) for name in REPLAYS] or {*args} & {*SAYS_ITSELF} else FREE
        code = run([*args, *free])
        return Done(code, *capsys.readouterr())

    return done


@pytest.fixture(scope="module")
def left() -> dict[str, Path]:
    """Copies of working directories, by name."""
    return {}


@pytest.fixture
def once(here: Path, left: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Does what takes long and fills the working directory; for the next test of the file it copies what was left."""

    def done(name: str, fill: Callable[[], None]) -> None:
        if name in left:
            shutil.copytree(left[name], here, dirs_exist_ok=True)
        else:
            fill()
            left[name] = shutil.copytree(here, tmp_path_factory.mktemp("left") / "here")

    return done


@pytest.fixture
def jobs(here: Path) -> str:
    """Jobs that queue on two nodes of four GPUs: the second is big, the third small."""
    rows = [(0, 6, 100), (10, 8, 50), (20, 2, 5), (30, 1, 20), (40, 4, 60), (50, 1, 10)]
    lines = ["job_id,queue,submit_s,gpus,duration_s"]
    lines += [f"j{i},{'prod' if gpus > 1 else 'test'},{submit},{gpus},{s}" for i, (submit, gpus, s) in enumerate(rows)]
    (here / "jobs.csv").write_text("\n".join(lines) + "\n")
    return "jobs.csv"
