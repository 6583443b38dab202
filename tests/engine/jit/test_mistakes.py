"""A mistake in a user's compiled policy is told with the file, the line and what is wrong."""

import re
from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.engine.jit.mistakes import mistakes_in
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.errors import UsageError
from tests.cli.command import pointsman as pointsman_command
from tests.free import simulate

POLICY = """from pointsman.policies.sdk import CompiledPolicy, Int, OfJob, Record
from pointsman.policies.sdk import State, core, parameter, view_of, whole
class Memory(Record):
    starts = whole("jobs started")
class Kept(OfJob):
    tries = whole("times it was tried")
class Mine(CompiledPolicy):
    name = "mine"
    needs = "none"
    hooks = __file__
    memory = Memory
    kept = Kept
    wait_s: float = parameter(1.0, "a time", unit="s")
params, memory, kept = view_of(Mine), view_of(Memory), view_of(Kept)

@core
def decide(S: State) -> None:
    pass

@core
def on_event(S: State, kind: Int, j: Int) -> None:
    pass
"""
ON_RUN = """
def plain(j):
    return j

@core
def twice(S: State, j: Int) -> Int:
    return 2 * j

@core
def on_run(S: State, j: Int) -> None:
    """


def said(folder: Path, text: str) -> str:
    """What a run under this policy says."""
    file = folder / "mine.py"
    file.write_text(text)
    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]}))
    with pytest.raises(UsageError) as caught:
        simulate(jobs, "1x2", f"{file}:Mine")
    return str(caught.value).removeprefix(str(file))


def test_a_hook_is_missing(tmp_path: Path) -> None:
    assert said(tmp_path, POLICY) == (
        ": there is no on_run: a compiled policy has the functions decide, on_event, on_run"
    )


@pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled without the JIT")
@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("S.jobs[j].pending_since = 1", "AttributeError: the record has no field .+; did you mean 'pend_since'?"),
        ("S.jobs[j].s1 = params(S).wait_s", r"AttributeError: Mine declares no 'wait_s' \(did you mean 'wait_ms'?"),
        ("params(S).wait_ms = 1", "AttributeError: parameters are not to be written, and 'wait_ms' is one"),
        ("memory(S).starts = kept(S, j).tires", "AttributeError: Kept declares no 'tires' .+'tries'?"),
        ("kept(S, j).starts = 1", r"AttributeError: Kept declares no 'starts' \(known: tries\)"),
        ("S.jobs[j].s1 = best_of(S, j)", "NameError: name 'best_of' is not defined"),
        ('S.jobs[j].s1 = "many" + 1', "No implementation of function .+add.+ found for signature: >>> add"),
        ("S.jobs[j].s1 = [j, 1][0]", "it allocates memory, as lists and arrays do$"),
        ("S.jobs[j].s1 = (lambda: j)()", "Invalid use of .+lambda"),
        ("if j > 3: raise ValueError", "Unsupported constraint encountered: raise"),
        ("decide(S, j)", r"Cannot bind 'args=.+ too many positional arguments"),
        ("print(j)", "TypeError: it calls Python, as print does"),
        ("S.jobs[j].s1 = plain(j)", "'plain' lacks @core"),
        ("S.jobs[j].s1 = twice(S, j, j)", "Cannot bind .+TypeError: too many positional arguments"),
        ("half = lambda i: i / 2; S.jobs[j].s1 = half(j)", "Invalid use of the inner function <lambda> with"),
        ("many = [1]; many.append(j)", "it allocates memory, as lists and arrays do"),
        ('text = f"{j:3d}"', "UnsupportedBytecodeError: format spec in f-strings not supported yet$"),
    ],
)
def test_what_does_not_compile(line: str, cause: str, tmp_path: Path) -> None:
    text = POLICY + ON_RUN + line
    place = "" if "calls Python" in cause else f":{text.count(chr(10)) + 1}"
    assert re.match(rf"{place}: it cannot be compiled: {cause}", said(tmp_path, text))


@pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled without the JIT")
def test_a_hook_is_not_marked(tmp_path: Path) -> None:
    text = POLICY + ON_RUN.replace("@core\ndef on_run", "def on_run") + "memory(S).starts = 0"
    assert re.match(r":\d+: it cannot be compiled: 'on_run' lacks @core", said(tmp_path, text))


def test_its_memory_is_not_declared(tmp_path: Path) -> None:
    text = POLICY.replace("    memory = Memory\n", "") + ON_RUN + "memory(S).starts = kept(S, j).tries\n"
    assert said(tmp_path, text) == ": its functions open Memory, which Mine does not declare: memory = Memory"


def test_what_fails_as_python(tmp_path: Path) -> None:
    text = POLICY.replace("    pass", "    memory(S).tries = 1", 1) + ON_RUN + "pass"
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "jobs.csv").write_text("submit_s,gpus,duration_s\n0,1,60\n")
    given = ("simulate", "jobs.csv", "--cluster", "1x2", "--policy", "mine.py:Mine", "-o", "run")
    done = pointsman_command(*given, cwd=tmp_path, env={"NUMBA_DISABLE_JIT": "1"})
    assert done.returncode == 1
    assert "mine.py:18: it failed at 0.000 s: AttributeError: Memory declares no 'tries' (--debug" in done.stderr


@pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled without the JIT")
@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("import numpy as np\nTABLE = np.zeros(200_000)\n", "TABLE[j]"),
        (
            "import ctypes\nf = ctypes.CDLL(None).abs\nf.argtypes, f.restype = [ctypes.c_int], ctypes.c_int\n",
            "f(j)",
        ),
    ],
)
def test_what_only_the_process_that_compiles_has_in_its_memory_is_refused(made: str, used: str, tmp_path: Path) -> None:
    text = made + POLICY + ON_RUN + f"S.jobs[j].s1 = {used}\n"
    assert "uses a function of C or an array over 1 MB" in said(tmp_path, text)


def test_a_mistake_in_a_file_of_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe9\nwrong = 1\n")
    with (
        pytest.raises(UsageError, match=r"mine.py:3: it cannot be compiled: NameError: 'wrong'"),
        mistakes_in(str(tmp_path / "mine.py")),
    ):
        raise NameError("'wrong'")
