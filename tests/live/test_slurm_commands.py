"""Commands of Slurm that hang, fail, are missing or complain; none of that is an empty cluster."""

import os
import time
from pathlib import Path

import pytest

from pointsman.errors import BackendError, UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.commands import Commands, kind_of
from pointsman.live.backends.slurm.pace import Pace


def commands(folder: Path, script: str, timeout_s: float = 20.0, **environment: str) -> Commands:
    """Commands of which `squeue` is a script."""
    program = folder / "squeue"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Commands(timeout_s, {"PATH": f"{folder}:{os.defpath}", **environment})


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    asked = commands(tmp_path, f"sleep 1000 & echo $! > {tmp_path}/child; sleep 1000", timeout_s=0.3)
    begun_s = time.monotonic()
    with pytest.raises(Unsure, match=r"squeue gave no answer in 0\.3 s"):
        asked.ask("squeue")
    assert time.monotonic() - begun_s < 5.0
    child = int((tmp_path / "child").read_text())
    until_s = time.monotonic() + 5.0
    while (status := Path(f"/proc/{child}/status")).exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_an_error_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unsure, match="squeue failed with 1: slurm_load_jobs error: Unable to contact"):
        commands(tmp_path, "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1").ask("squeue")
    with pytest.raises(Unsure, match="it said nothing"):
        commands(tmp_path, "kill -9 $$").ask("squeue")


def test_an_option_without_effect_is_no_error(tmp_path: Path) -> None:
    warns = "echo 'squeue: error: Ignoring ControlMachine since SlurmctldHost is set.' >&2"
    assert commands(tmp_path, warns).ask("squeue").errors == ""
    warns += """; echo 'squeue: error: The option "X" is defunct, see man slurm.conf.' >&2; echo "$1" >&2"""
    assert commands(tmp_path, warns).ask("squeue", "slurm_load error: Ignoring").errors == "slurm_load error: Ignoring"


def test_what_a_person_must_mend_is_said_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="run the daemon as root or as SlurmUser"):
        commands(tmp_path, "echo 'error: Access/permission denied' >&2; exit 1").ask("squeue")
    with pytest.raises(BackendError, match="set SLURM_CONF"):
        commands(tmp_path, "echo 'squeue: fatal: Unable to process configuration file' >&2; exit 1").ask("squeue")
    with pytest.raises(UsageError, match="no command 'sin'"):
        commands(tmp_path, "").ask("sin")


def test_commands_get_little_of_the_environment(tmp_path: Path) -> None:
    asked = commands(tmp_path, "env", SQUEUE_STATES="RUNNING", SLURM_CLUSTERS="other", SLURM_CONF="/x", LC_ALL="de_DE")
    lines = asked.ask("squeue").text.splitlines()
    assert {"SLURM_CONF=/x", "LC_ALL=C", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0"} <= {*lines}
    assert not [line for line in lines if line.startswith(("SQUEUE_", "SLURM_CLUSTERS"))]


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    assert commands(tmp_path, 'printf "%s\\n" "$@"').ask("squeue", "$(id); a b").text == "$(id); a b\n"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    assert commands(tmp_path, r"printf 'a\377b'").ask("squeue").text == "a\ufffdb"


def test_requests_are_counted(tmp_path: Path) -> None:
    asked = commands(tmp_path, "")
    for _ in range(3):
        asked.ask("squeue", "--all")
    asked.ask("squeue", "--json")
    load = asked.load()
    assert (load["squeue"].rpcs_a_minute, load["squeue --json"].rpcs_a_minute) == (6, 1)
    assert 0.0 < load["squeue"].last_s < 5.0
    assert kind_of(("scontrol", "--local", "-d", "show", "job", "7")) == "scontrol show job"


def test_the_interval_doubles_while_answers_are_slow_and_recovers() -> None:
    pace = Pace(least_s=1.0, most_s=8.0, slow_share=0.2)
    for took_s, interval_s in ((0.1, 1.0), (0.3, 2.0), (0.3, 2.0), (0.5, 4.0), (20.0, 8.0), (20.0, 8.0), (1.0, 8.0),
                               (0.7, 4.0), (0.3, 2.0), (0.1, 1.0), (0.01, 1.0)):  # fmt: skip
        pace.note(took_s)
        assert pace.interval_s == interval_s
