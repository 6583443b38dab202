"""A user's policy whose file is edited: what is compiled follows, whatever the edit was."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.jit import build, digests
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.units import hooks_unit
from pointsman.errors import RunError
from pointsman.policies.classical import srtf
from tests.engine.jit.compiled import environment
from tests.free import simulate

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_overtaking_policy.py"
DECLARED = "    most_overtakes: int = parameter("
ANOTHER = "    least: int = parameter(0, 'another', ge=0)\n"
compiled = pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled")


def workload() -> pointsman.Workload:
    draw = np.random.default_rng(5)
    frame = {
        "submit_s": np.sort(draw.integers(0, 900, 200)).astype(float),
        "gpus": draw.choice([1, 2, 4, 8, 12], 200),
        "duration_s": draw.integers(1, 100, 200).astype(float),
    }
    return pointsman.Workload.of(pl.DataFrame(frame))


def test_declarations_may_be_added_and_change_places(tmp_path: Path) -> None:
    """Code of before would read another number where only a declaration has moved."""
    mine, text = tmp_path / "mine.py", EXAMPLE.read_text()
    assert DECLARED in text
    texts = [text, text.replace(DECLARED, ANOTHER + DECLARED), text]
    found = []
    for each in texts:
        mine.write_text(each)
        found.append(simulate(workload(), "3x8", f"{mine}:Overtaking", params={"most_overtakes": 3}).jobs)
    assert found[0].equals(found[1]) and found[0].equals(found[2])
    many = simulate(workload(), "3x8", f"{mine}:Overtaking", params={"most_overtakes": 0})
    assert not many.jobs.equals(found[0]), "it depends on the parameter"


@compiled
def test_what_its_file_prints_and_what_lies_in_the_folder_at_hand_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("print('loading')\n" + EXAMPLE.read_text())
    (tmp_path / "llvmlite.py").write_text("raise SystemExit('a module of somebody else')\n")
    (tmp_path / "jobs.csv").write_text("submit_s,gpus,duration_s\n0,1,10\n")
    script = "import sys; from pointsman.cli.run import run; sys.exit(run(sys.argv[1:]))"
    command = ["simulate", "jobs.csv", "--cluster", "1x1", "--policy", "mine.py:Overtaking"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, *command], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@compiled
def test_a_policy_that_was_changed_in_memory_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests of what a process has made of a function are not taken for those of its file."""

    def fail(*_: Any) -> None:
        raise AssertionError("written")

    def other(S: Any, j: Any) -> None:
        """Another."""

    monkeypatch.setattr(srtf, "_wait", other)
    monkeypatch.setattr(digests, "_content_once", lambda function: digests._content(function, {}))
    monkeypatch.setattr(build, "_table", dict)
    monkeypatch.setattr(build, "_compile", lambda lacking, tell: (_ for _ in ()).throw(RunError("edited")))
    monkeypatch.setattr(build, "write_whole", fail)
    with pytest.raises(RunError, match="edited"):
        build.prepare([hooks_unit(srtf.__name__)])


@compiled
def test_digests_of_sources_that_change_while_they_are_imported_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(build, "write_whole", lambda path, content: written.append(path))
    for began_ns, kept in ((0, []), (1 << 62, [build._table_file()])):
        written.clear()
        monkeypatch.setattr(build, "_table", dict)
        monkeypatch.setattr(build, "BEGAN_NS", began_ns)
        build.prepare(build.COMMON)
        assert written == kept


@compiled
def test_a_compiling_process_that_is_killed_is_named() -> None:
    code = """
import os, signal, sys
from pointsman.engine.jit.compiling import emit

def killed(work):
    os.kill(os.getpid(), signal.SIGKILL)

emit._make = killed
try:
    emit.main(["pointsman.engine.units.one_machine"], 2, sys.stdout)
except emit.BrokenProcessPool:
    print("noticed")
"""
    env = environment(POINTSMAN_COMPILING="1")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["noticed"], done.stderr
