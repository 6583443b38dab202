"""What users try against each other, and against the daemon."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pip install pointsman[live]")

from pointsman.live.client.connection import NoDaemon, call

from .daemons import RunningDaemon, wait_for
from .test_daemon import ENDED

NOBODY = 65_534
AS_NOBODY = f"""
import os, sys
from pointsman.live.client.verbs import main, parser
parser("submit").parse_args([])  # so that all is imported that another user may not read
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
sys.exit(main(sys.argv[1:]))
"""
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")


def let_others_in(folder: Path) -> None:
    """So that they reach a socket below it."""
    for above in (folder, *folder.parents):
        if above.stat().st_uid == os.getuid() and above.name.startswith(("pytest-", "popen-", "test_", "attacked")):
            above.chmod(0o755)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    folder = tmp_path_factory.mktemp("attacked")
    let_others_in(folder)
    with RunningDaemon(folder, "--policy", "fifo-backfill") as daemon:
        yield daemon
        assert daemon.end() == 0, daemon.log()


def as_nobody(daemon: RunningDaemon, *words: str) -> subprocess.CompletedProcess[str]:
    """What another user types."""
    environment = {**os.environ, "POINTSMAN_SOCKET": str(daemon.socket)}
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *words], env=environment, cwd="/", capture_output=True, text=True, timeout=60
    )


@only_root
def test_jobs_of_others_are_theirs(daemon: RunningDaemon) -> None:
    number = daemon.submit("--", "sleep", "60")
    daemon.wait(number, "RUNNING")
    for verb in ("cancel", "hold", "release", "requeue"):
        done = as_nobody(daemon, verb, str(number))
        assert (done.returncode, done.stderr) == (2, f"pointsman: job {number} is another user's\n")
    seen = json.loads(as_nobody(daemon, "show", str(number), "--format", "json").stdout)
    assert seen["state"] == "RUNNING"
    assert not {"command", "environment", "output"} & set(seen)
    assert "is another user's" in as_nobody(daemon, "logs", str(number)).stderr
    for words in (
        ("drain", "n0000"),
        ("resume", "n0000"),
        ("submit", "--priority", "5", "--export=NONE", "--", "true"),
    ):
        assert "only an operator" in as_nobody(daemon, *words).stderr
    daemon.type("cancel", str(number))


@only_root
def test_a_job_has_the_rights_of_its_user(daemon: RunningDaemon) -> None:
    secret, open_to_all = daemon.folder / "secret", daemon.folder / "open"
    secret.mkdir(mode=0o700)
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (open_to_all / "link").symlink_to(secret / "planted")
    (secret / "planted").touch(mode=0o600)
    command = ("--export", "NONE", "--", "sh", "-c", "id -u; touch $POINTSMAN_CHECKPOINT_DIR/mine && echo kept")
    wanted = {
        ("-D", "/", "-o", str(open_to_all / "good")): ("COMPLETED", ""),
        ("-D", "/", "-o", str(open_to_all / "link")): ("FAILED", "Permission denied"),
        ("-D", "/", "-o", str(secret / "new")): ("FAILED", "Permission denied"),
        ("-D", str(secret), "-o", str(open_to_all / "other")): ("FAILED", ""),
    }
    for words, (state, why) in wanted.items():
        number = int(as_nobody(daemon, "submit", "--parsable", *words, *command).stdout)
        job = daemon.wait(number, *ENDED)
        assert job["state"] == state, (words, job)
        assert why in job["attempts"][-1]["detail"]
    assert (open_to_all / "good").read_text() == f"{NOBODY}\nkept\n"
    assert (secret / "planted").read_text() == ""


def test_a_pipe_is_no_output(daemon: RunningDaemon) -> None:
    os.mkfifo(daemon.folder / "pipe")
    job = daemon.wait(daemon.submit("-o", str(daemon.folder / "pipe"), "--", "true"), *ENDED)
    assert job["state"] == "FAILED"


def test_a_folder_that_is_not_there_is_named(daemon: RunningDaemon) -> None:
    job = daemon.wait(daemon.submit("-o", "/dev/null", "-D", "/no/such", "--", "true"), *ENDED)
    assert (job["state"], job["attempts"][-1]["detail"]) == ("FAILED", "/no/such: No such file or directory")


def test_what_a_job_leaves_behind_keeps_its_gpus_until_it_is_gone(daemon: RunningDaemon) -> None:
    """It puts off the mark by an empty environment, and its session."""
    leaves = "env -i setsid sleep 1000 & echo $!; exit 0"
    number = daemon.submit("--grace", "1", "--", "sh", "-c", leaves)
    daemon.wait(number, *ENDED)
    pid = int((daemon.folder / f"pointsman-{number}.out").read_text())
    wait_for(lambda: not Path(f"/proc/{pid}/exe").exists())


def ask(daemon: RunningDaemon, data: bytes) -> bytes:
    """What comes back of raw bytes."""
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(10)
        one.connect(str(daemon.socket))
        with suppress(BrokenPipeError):  # it may have heard enough
            one.sendall(data)
        return one.recv(65_536)


def post(daemon: RunningDaemon, body: bytes) -> int:
    """The status of a submission."""
    head = ("POST /api/v1/jobs HTTP/1.1", "Host: x", "Content-Type: application/json", "Connection: close")
    sized = [*head, f"Content-Length: {len(body)}", "", ""]
    return int(ask(daemon, "\r\n".join(sized).encode() + body).split()[1])


BODIES = {
    "no JSON": b"{",
    "a list": b"[]",
    "nothing": b"{}",
    "no command": b'{"command": []}',
    "a field of its own": b'{"command": ["true"], "uid": 0}',
    "NaN": b'{"command": ["true"], "time_limit_s": NaN}',
    "for ever": b'{"command": ["true"], "time_limit_s": 1e999}',
    "a huge number": b'{"command": ["true"], "gpus": 1' + b"0" * 400 + b"}",
    "a huge batch": b'{"command": ["true"], "batch_size": 100000000000000000000}',
    "less than none": b'{"command": ["true"], "gpus": -1}',
    "nodes that do not divide": b'{"command": ["true"], "gpus": 3, "nodes": 2}',
    "NUL in a command": b'{"command": ["a\\u0000b"]}',
    "NUL in a variable": b'{"command": ["true"], "environment": {"A": "\\u0000"}}',
    "no name of a variable": b'{"command": ["true"], "environment": {"A=B": "c"}}',
    "a folder without a root": b'{"command": ["true"], "folder": "tmp"}',
    "an escape in a folder": b'{"command": ["true"], "folder": "/\\u001b[31m"}',
    "half a character": b'{"command": ["\\ud800"]}',
    "deep": b'{"command": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "no such partition": b'{"command": ["true"], "partition": "nowhere"}',
}


@pytest.mark.parametrize("what", BODIES)
def test_a_wrong_submission_is_refused_and_the_daemon_lives(what: str, daemon: RunningDaemon) -> None:
    status = post(daemon, BODIES[what])
    assert 400 <= status < 500 or what == "no such partition", status
    assert daemon.type("live", "status").returncode == 0


@pytest.mark.parametrize(
    "data", [b"\x00" * 100, b"GET / HTTP/9.9\r\n\r\n", b"BREW /pot HTTP/1.1\r\n\r\n", b"\r\n" * 50]
)
def test_what_is_no_request_does_no_harm(data: bytes, daemon: RunningDaemon) -> None:
    with suppress(TimeoutError, ConnectionError):
        ask(daemon, data)
    assert daemon.type("live", "status").returncode == 0


def test_a_body_may_not_be_large(daemon: RunningDaemon) -> None:
    assert post(daemon, b'{"command": ["' + b"x" * 2_000_000 + b'"]}') == 413


@only_root
def test_an_operator_cannot_run_code_as_the_daemon(tmp_path: Path) -> None:
    let_others_in(tmp_path)
    policy = tmp_path / "mine.py"
    policy.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with RunningDaemon(tmp_path, "--operator", "nobody") as daemon:
        body = json.dumps({"policy": f"{policy}:Mine", "params": {}})
        put = f"""
import os, socket
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
one = socket.socket(socket.AF_UNIX); one.connect({str(daemon.socket)!r})
body = {body!r}.encode()
head = f"PUT /api/v1/policy HTTP/1.0\\r\\nContent-Type: application/json\\r\\nContent-Length: {{len(body)}}\\r\\n\\r\\n"
one.sendall(head.encode() + body)
print(one.recv(4096).split()[1].decode())
"""
        done = subprocess.run([sys.executable, "-c", put], capture_output=True, text=True)
        assert done.stdout == "403\n", done.stderr
        assert not (tmp_path / "ran").exists()


@only_root
def test_an_operator_may_do_what_root_may(tmp_path: Path) -> None:
    let_others_in(tmp_path)
    with RunningDaemon(tmp_path, "--operator", "nobody") as daemon:
        number = daemon.submit("-H", "--", "true")
        assert as_nobody(daemon, "drain", "n0000", "--reason", "a fan").returncode == 0
        assert daemon.rows("nodes")[0]["reason"] == "a fan"
        assert as_nobody(daemon, "cancel", str(number)).returncode == 0
        assert daemon.wait(number, *ENDED)["state"] == "CANCELLED"


@only_root
def test_one_user_cannot_keep_all_connections(daemon: RunningDaemon) -> None:
    hold = f"""
import os, socket, sys, time
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
kept = []
for _ in range(300):
    one = socket.socket(socket.AF_UNIX)
    one.connect({str(daemon.socket)!r})
    kept.append(one)
print("held", flush=True)
time.sleep(60)
"""
    holder = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        assert daemon.type("live", "status").returncode == 0
    finally:
        holder.kill()
        holder.communicate()


def test_names_of_nodes_that_take_long_to_read_are_refused_at_once(daemon: RunningDaemon) -> None:
    for drain in (["n0[" + "," * 100_000], ["n[1-1000000]"], [""]):
        began_s = time.monotonic()
        body = json.dumps({"drain": drain}).encode()
        head = f"POST /api/v1/whatif HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        assert ask(daemon, head.encode() + body).split(b" ")[1] == b"400"
        assert time.monotonic() - began_s < 5.0


def test_cancel_with_an_empty_name_cancels_nothing(daemon: RunningDaemon) -> None:
    held = daemon.submit("-H", "--", "true")
    for words in (("-u", "", "-t", "PD"), ("--me", "-t", ""), ("-u", "")):
        done = daemon.type("cancel", *words)
        assert (done.returncode, "want a name" in done.stderr) == (2, True), done.stderr
    for node in ("", "../../status"):
        assert daemon.type("drain", node).returncode == 2
    assert daemon.job(held)["state"] == "PENDING"
    assert daemon.type("cancel", "--me").returncode == 0


def test_a_daemon_that_dies_while_it_is_asked_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `live stop --hand-back` does its work."""
    path = tmp_path / "api.sock"
    monkeypatch.setenv("POINTSMAN_SOCKET", str(path))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    threading.Timer(0.2, listening.close).start()
    with pytest.raises(NoDaemon):
        call("GET", "/status")
