"""Several processes share what is to be compiled: each thing is claimed by one of them, as long as that lives."""

import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.engine.jit import claims

CLAIM = """
import sys
from pointsman.engine.jit.claims import claim, release
for line in sys.stdin:
    verb, what = line.split()
    print(claim(what) if verb == "claim" else release(what), flush=True)
"""


class Process:
    """Another process, which claims and releases as it is told."""

    def __init__(self) -> None:
        self.child = subprocess.Popen([sys.executable, "-c", CLAIM], stdin=-1, stdout=-1, text=True)

    def __call__(self, line: str) -> str:
        assert self.child.stdin and self.child.stdout
        self.child.stdin.write(f"{line}\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().strip()

    def end(self) -> None:
        assert self.child.stdin and self.child.stdout
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()


def test_what_one_process_claimed_no_other_gets_before_it_is_released_or_the_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(0o700)
    monkeypatch.setenv("POINTSMAN_HOME", str(home))
    claims._file.cache_clear()
    other = Process()
    assert other("claim instant") == "True"
    assert other("claim instant") == "True", "it has it already"
    assert not claims.claim("instant")
    assert claims.claim("start"), "of which nobody spoke"
    assert other("claim start") == "False"
    claims.release("start")
    assert other("claim start") == "True"
    other.end()
    assert claims.claim("instant") and claims.claim("start")
    claims._file.cache_clear()
