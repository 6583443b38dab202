"""Public logs, fetched from a server of our own that breaks off, changes its mind and lies."""

import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pointsman.cli.run import run
from pointsman.errors import BackendError, InputError
from pointsman.workload.public import catalogue
from pointsman.workload.public.catalogue import PUBLIC, PublicTrace
from pointsman.workload.public.fetch import fetch, read_record
from pointsman.workload.readers.read import read_workload

LOG = b"job_id,submission_time,duration,num_gpu\n" + b"".join(b"j%d,%d,700,1\n" % (i, i) for i in range(50_000))


class Server(ThreadingHTTPServer):
    """Has one file at every path, with ranges and an ETag."""

    data, etag, breaks_after, ranges = LOG, '"1"', None, []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/cluster.csv"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        data, asked = self.server.data, self.headers.get("Range")
        self.server.ranges.append(asked)
        if self.path == "/none":
            self.send_error(404)
            return
        begin = 0
        if asked and self.headers.get("If-Range") == self.server.etag:
            begin = int(asked.removeprefix("bytes=").removesuffix("-"))
            if begin >= len(data):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(data)}")
                self.end_headers()
                return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        self.send_header("ETag", self.server.etag)
        self.end_headers()
        self.wfile.write(data[begin : self.server.breaks_after])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as made:
        made.ranges = []
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()


@pytest.fixture
def trace(server: Server) -> PublicTrace:
    return PublicTrace("mine", "a log", server.url, "MIT", "nobody")


def seen(_: float) -> None:
    """Progress that nobody looks at."""


def test_a_log_comes_whole_with_a_record_and_only_once(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    shares: list[float] = []
    record, is_new = fetch(trace, tmp_path, shares.append)
    assert is_new
    assert (tmp_path / "cluster.csv").read_bytes() == LOG
    assert record["sha256"] == hashlib.sha256(LOG).hexdigest()
    assert (record["bytes"], record["files"], record["licence"]) == (len(LOG), ["cluster.csv"], "MIT")
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {path.name for path in tmp_path.iterdir()} == {"cluster.csv", "record.json"}
    assert fetch(trace, tmp_path, seen) == (record, False)
    assert len(server.ranges) == 1
    assert fetch(trace, tmp_path, seen, force=True) == (record, True)
    assert read_workload(tmp_path / "cluster.csv").jobs.height == 50_000


def test_a_download_that_broke_off_goes_on(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    server.breaks_after = 300_000
    with pytest.raises(BackendError, match=r"broke off \(300,000 of [0-9,]+ bytes came\); run the command again"):
        fetch(trace, tmp_path, seen)
    assert read_record(tmp_path) is None
    server.breaks_after = None
    record, _ = fetch(trace, tmp_path, seen)
    assert server.ranges == [None, "bytes=300000-"]
    assert record["sha256"] == hashlib.sha256(LOG).hexdigest()


def test_a_file_that_has_changed_meanwhile_comes_anew(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    server.breaks_after = 300_000
    with pytest.raises(BackendError):
        fetch(trace, tmp_path, seen)
    server.data, server.etag, server.breaks_after = LOG[:-13] + b"last,9,700,1\n", '"2"', None
    fetch(trace, tmp_path, seen)
    assert (tmp_path / "cluster.csv").read_bytes() == server.data


def test_what_came_whole_and_was_not_unpacked_does_not_come_again(
    trace: PublicTrace, server: Server, tmp_path: Path
) -> None:
    (tmp_path / "download.part").write_bytes(LOG)
    (tmp_path / "download.json").write_text(json.dumps({"url": trace.url, "validator": server.etag}))
    assert fetch(trace, tmp_path, seen)[1]
    assert (tmp_path / "cluster.csv").read_bytes() == LOG


def test_other_bytes_than_expected_are_refused(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    pinned = replace(trace, sha256=hashlib.sha256(LOG).hexdigest())
    assert fetch(pinned, tmp_path / "good", seen)[1]
    server.data = b"another"
    with pytest.raises(InputError, match="not the bytes that were expected"):
        fetch(pinned, tmp_path / "bad", seen)
    assert not (tmp_path / "bad" / "cluster.csv").exists()
    fetch(trace, tmp_path / "first", seen)
    server.data = b"changed since"
    with pytest.raises(InputError, match="not the bytes that were expected"):
        fetch(trace, tmp_path / "first", seen, force=True)
    assert (tmp_path / "first" / "cluster.csv").read_bytes() == b"another", "what was there stays"


def test_a_pointer_is_no_log(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    server.data = b"version https://git-lfs.github.com/spec/v1\noid sha256:2037\nsize 1055988361\n"
    with pytest.raises(InputError, match="a Git LFS pointer, not the log"):
        fetch(trace, tmp_path, seen)


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name.replace("_", "/", 1))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def test_the_logs_of_an_archive_are_unpacked(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    server.data = archive(**{"raw_cluster02.csv": b"b", "raw_cluster01.csv": b"a", "raw_README": b"no"})
    record, _ = fetch(replace(trace, members="*.csv"), tmp_path, seen)
    assert record["files"] == ["cluster01.csv", "cluster02.csv"]
    assert [(tmp_path / name).read_bytes() for name in record["files"]] == [b"a", b"b"]
    assert not (tmp_path / "README").exists()
    server.data = archive(**{"raw_README": b"no"})
    with pytest.raises(InputError, match=r"the archive has no \*\.csv"):
        fetch(replace(trace, members="*.csv"), tmp_path / "none", seen)
    server.data = server.data[:40]
    with pytest.raises(InputError, match="the archive is damaged"):
        fetch(replace(trace, members="*.csv"), tmp_path / "damaged", seen)


def test_a_member_cannot_leave_the_folder(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    server.data = archive(**{".._../../evil.csv": b"x"})
    record, _ = fetch(replace(trace, members="*.csv"), tmp_path / "in" / "here", seen)
    assert record["files"] == ["evil.csv"]
    assert [path.name for path in tmp_path.rglob("evil.csv")] == ["evil.csv"]
    assert (tmp_path / "in" / "here" / "evil.csv").exists()


def test_no_server_and_no_file(trace: PublicTrace, server: Server, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="the server answers 404"):
        fetch(replace(trace, url=server.url.replace("cluster.csv", "none")), tmp_path, seen)
    with pytest.raises(BackendError, match=r"cannot be fetched: .*; run the command again"):
        fetch(replace(trace, url="http://127.0.0.1:1/log"), tmp_path, seen)


def test_the_command(
    trace: PublicTrace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(catalogue.PUBLIC, "mine", trace)
    monkeypatch.setenv("POINTSMAN_HOME", str(tmp_path / "home"))
    assert run(["trace", "fetch", "mine"]) == 0
    said = capsys.readouterr()
    place = tmp_path / "home" / "traces" / "mine" / "cluster.csv"
    assert said.out == f"{place}\n"
    assert "MIT; cite nobody" in said.err
    assert "recorded now, because no digest of it is known here" in said.err
    assert run(["trace", "fetch", "mine", "--to", str(tmp_path / "there")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'there' / 'mine' / 'cluster.csv'}\n"
    assert run(["trace", "fetch", "phily"]) == 2
    assert "did you mean 'philly'?" in capsys.readouterr().err
    assert run(["trace", "fetch"]) == 0
    assert {"philly", "helios-venus", "itp"} <= {line.split()[0] for line in capsys.readouterr().out.splitlines()}


def test_the_catalogue_is_whole() -> None:
    for name, one in PUBLIC.items():
        assert one.name == name
        assert one.url.startswith("https://")
        assert one.licence
        assert one.cite
        assert not one.sha256, "pin only bytes that were hashed here"
        assert ".tar" not in one.url or one.members
