"""The file of rows: what is written is kept, whatever happens to the process."""

import errno
import fcntl
import os
import resource
import signal
from pathlib import Path

import pytest

from pointsman.errors import RunError, UsageError
from pointsman.measure.rows import RowFile, cell
from pointsman.speed.measured_rows import ENVIRONMENT

COLUMNS = ("model", "step_s", "reason", "precision", "mode")
PLACE = ("gpu_type", *ENVIRONMENT)


def opened(path: Path, *, force: bool = False) -> RowFile:
    return RowFile(path, COLUMNS, force=force)


def test_rows_are_on_the_disk_at_once_and_found_later(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with opened(path) as file:
        file.add([{"model": "a", "step_s": 0.1234567}, {"model": "b", "reason": "crash: a,\nb"}])
        assert path.read_text() == 'model,step_s,reason,precision,mode\na,0.123457,,,\nb,,"crash: a, b",,\n'
    with opened(path) as file:
        assert file.find({"model": "b"}) == dict(zip(COLUMNS, ("b", "", "crash: a, b", "", ""), strict=True))
        assert file.find({"model": "c"}) is None
        file.add([{"model": "b", "step_s": 2}])
        assert (file.find({"model": "b"}) or {})["step_s"] == "2"
    assert path.read_text().count("\n") == 4


@pytest.mark.parametrize("cut", [1, 20, 34])
def test_a_header_that_was_cut_off_is_written_anew(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rows.csv"
    path.write_text((",".join(COLUMNS) + "\n")[:cut])
    with opened(path) as file:
        assert file.rows == []
        assert path.read_text() == ",".join(COLUMNS) + "\n"


def test_a_file_without_rows_does_not_stay(tmp_path: Path) -> None:
    with opened(tmp_path / "rows.csv"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_row_that_was_cut_off_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(",".join(COLUMNS) + "\na,1,,,\nb,2")
    with opened(path) as file:
        assert [row["model"] for row in file.rows] == ["a"]
    assert path.read_text() == ",".join(COLUMNS) + "\na,1,,,\n"


@pytest.mark.parametrize("text", ["job_id,gpus\n1,2\n", "hello", "\n"])
def test_another_file_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"jobs\.csv: has other columns"):
        opened(path)
    assert path.read_text() == text
    with opened(path, force=True) as file:
        assert file.rows == []
    assert path.read_text() == text  # nothing was measured that could replace it
    with opened(path, force=True) as file:
        file.add([{"model": "a"}])
        file.add([{"model": "b"}])
    assert path.read_text() == ",".join(COLUMNS) + "\na,,,,\nb,,,,\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["jobs.csv"]


def test_a_byte_order_mark_is_no_other_column(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(",".join(COLUMNS) + "\r\na,1,,,\r\n", encoding="utf-8-sig", newline="")
    with opened(path) as file:
        assert [row["model"] for row in file.rows] == ["a"]


@pytest.mark.parametrize("content", [b"a\xff,1,,,\n", b"a" * 200_000 + b",1,,,\n"])
def test_what_is_no_csv_file_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(",".join(COLUMNS).encode() + b"\n" + content)
    with pytest.raises(UsageError, match=r"rows\.csv: not a CSV file in UTF-8: .* .name another file"):
        opened(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(UsageError, match=r"pipe\.csv: not a regular file"):
        opened(tmp_path / "pipe.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to everything")
def test_a_file_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(",".join(COLUMNS) + "\n")
    path.chmod(0o444)
    with pytest.raises(UsageError, match=r"rows\.csv: cannot be written: Permission denied .name another file"):
        opened(path)


@pytest.mark.parametrize("again", [False, True])
def test_rows_that_find_no_room_leave_the_others(tmp_path: Path, again: bool) -> None:
    """The largest size of a file stands for a full disk: a part of the row finds room."""
    path = tmp_path / "rows.csv"
    with opened(path) as file:
        file.add([{"model": "a" * 100}, {"model": "b"}])
        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
        try:
            with pytest.raises(RunError, match=r"rows\.csv: cannot be written: File too large .rows that it has are"):
                file.add([{"model": "c" * 200}], instead_of=file.rows[1:] if again else ())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
        assert path.read_bytes() == before
        file.add([{"model": "c"}])
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.csv"]
    with opened(path) as file:
        assert [row["model"][:1] for row in file.rows] == ["a", "b", "c"]


def test_empty_lines_are_passed_over_and_damaged_ones_are_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    text = ",".join(COLUMNS) + "\na,1,,fp32,mps\n\n,,,,\nb,2,,fp32,mps\n"
    path.write_text(text)
    with opened(path) as file:
        assert [row["model"] for row in file.rows] == ["a", "b"]
    path.write_text(text + "c,3\n")
    with pytest.raises(UsageError, match=r"rows\.csv:6: 2 cells under 5 columns \(name another file"):
        opened(path)
    assert path.read_text() == text + "c,3\n"


def test_only_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    with opened(path), pytest.raises(UsageError, match="another measurement writes to it"):
        opened(path)
    with opened(path):
        pass


def test_a_file_system_without_locks_is_no_other_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(file: int, how: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", flock)  # as Lustre mounted without it
    with pytest.raises(UsageError, match=r"rows\.csv: cannot be locked on this file system: Function not implemented"):
        opened(tmp_path / "rows.csv")


@pytest.mark.parametrize("column", ENVIRONMENT)
def test_rows_of_one_gpu_type_are_of_one_environment(tmp_path: Path, column: str) -> None:
    about = dict.fromkeys(ENVIRONMENT, "this")
    with RowFile(tmp_path / "rows.csv", PLACE, force=False) as file:
        file.add([{"gpu_type": "a100", **about}])
        file.check_environment("a100", about)
        file.check_environment("v100", about | {column: "that"})
        with pytest.raises(UsageError, match=f"has rows whose {column} is 'this', and now it is 'that' .name another"):
            file.check_environment("a100", about | {column: "that"})


def test_rows_replace_others_all_at_once(tmp_path: Path) -> None:
    path, link = tmp_path / "rows.csv", tmp_path / "link.csv"
    with opened(path) as file:
        file.add([{"model": name, "step_s": 1} for name in "abc"])
    link.symlink_to(path)
    (tmp_path / ".rows.csv.partial").write_text("of a run that was killed")
    with opened(link) as file:
        assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []
        old = file.find({"model": "b"})
        assert old
        file.add([{"model": "b", "step_s": 2}], instead_of=[old])
        with pytest.raises(UsageError, match="another measurement writes to it"):
            opened(path)
        file.add([{"model": "d"}])
    assert link.is_symlink()
    with opened(path) as file:
        assert [(row["model"], row["step_s"]) for row in file.rows] == [("a", "1"), ("c", "1"), ("b", "2"), ("d", "")]
    assert {entry.name for entry in tmp_path.iterdir()} == {"rows.csv", "link.csv"}


@pytest.mark.parametrize(("value", "text"), [(None, ""), (1.0, "1"), (3e-7, "3e-07"), (12, "12"), ("a\n b", "a b")])
def test_cells_are_on_one_line(value: object, text: str) -> None:
    assert cell(value) == text
