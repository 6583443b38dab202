"""A user's policy whose file is edited: what is compiled follows, whatever the edit was."""

import os
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
from pointsman.errors import RunError, UsageError
from pointsman.policies.classical import srtf
from pointsman.policies.own_file import imported_class
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_edit_of_the_same_second_and_size_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python takes its bytecode of before for that of a file with the same second and size."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    mine, found = tmp_path / "mine.py", []
    for most in ("100", "000", "100"):
        mine.write_text(EXAMPLE.read_text().replace("parameter(100,", f"parameter({most},"))
        os.utime(mine, (1, 1))
        found.append(simulate(workload(), "3x8", f"{mine}:Overtaking").jobs)
    assert found[0].equals(found[2]) and not found[0].equals(found[1])


def test_a_class_of_before_is_not_run_with_the_hooks_of_now(tmp_path: Path) -> None:
    """They would find its numbers elsewhere, and write beyond its memory."""
    mine, text = tmp_path / "mine.py", EXAMPLE.read_text()
    mine.write_text(text)
    before = imported_class(str(mine), "Overtaking")()
    simulate(workload(), "3x8", before)
    mine.write_text(text + "# the same declarations\n")
    simulate(workload(), "3x8", before)
    mine.write_text(text.replace("    starts = whole", "    more = whole('another')\n    starts = whole"))
    with pytest.raises(UsageError, match=r"mine.py: declares other numbers than when Overtaking was imported"):
        simulate(workload(), "3x8", before)


@pytest.mark.slow
def test_equal_files_in_two_folders_are_two_policies(tmp_path: Path) -> None:
    """They may read what lies beside them."""
    read = "from pathlib import Path\nMOST = int(Path(__file__).with_name('most').read_text())\n"
    found = []
    for most in ("0", "100"):
        folder = tmp_path / most
        folder.mkdir()
        (folder / "most").write_text(most)
        (folder / "mine.py").write_text(read + EXAMPLE.read_text().replace(">= P.most_overtakes", ">= MOST"))
        found.append(simulate(workload(), "3x8", f"{folder / 'mine.py'}:Overtaking").jobs)
    assert not found[0].equals(found[1])


@compiled
def test_modules_are_those_of_the_process_that_runs_and_options_those_of_the_package(tmp_path: Path) -> None:
    """`python -c` and notebooks import from the folder at hand; Numba would read options there."""
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    (tmp_path / "beside.py").write_text("KEY = 0.0\n")
    mine = "from beside import KEY\n" + EXAMPLE.read_text().replace("enqueue(S, j, 0.0", "enqueue(S, j, KEY")
    (tmp_path / "mine.py").write_text(mine)
    code = f"from pointsman.engine.jit.build import prepare; prepare([{hooks_unit('mine.py')!r}])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
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


@compiled
def test_all_processes_that_compile_end_with_the_first() -> None:
    """Else whoever waits for what it compiles waits for ever."""
    code = """
import sys, time
from pointsman.engine.jit.compiling import emit

def slow(work):
    print("at it", file=sys.stderr, flush=True)
    time.sleep(600)

emit._make = slow
emit.main(["pointsman.engine.units.one_machine", "pointsman.engine.units.history"], 2, sys.stdout)
"""
    env = environment(POINTSMAN_COMPILING="1")
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=-1, stderr=-1, text=True) as process:
        try:
            assert process.stderr and process.stderr.read(5) == "at it"
        finally:
            process.kill()
        process.communicate(timeout=60)
