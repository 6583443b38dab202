"""Files come packed, cut short, binary, empty or not at all."""

import gzip
import hashlib
import io
import itertools

import pytest
import zstandard

from pointsman.errors import InputError, RunError, UsageError
from pointsman.workload import read_workload
from pointsman.workload.readers.source import open_source

TEXT = b"submit_s,gpus,duration_s\n" + b"".join(b"%d,1,60\n" % i for i in range(500))


def written(tmp_path, data, name="jobs"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_packing_is_known_by_content_and_hashed_as_stored(tmp_path, pack):
    data = pack(TEXT)
    workload = read_workload(written(tmp_path, data))
    assert workload.jobs.height == 500
    assert workload.provenance.sha256 == hashlib.sha256(data).hexdigest()
    assert workload.provenance.source == str(tmp_path / "jobs")


def test_zstd_of_several_frames(tmp_path):
    pack = zstandard.ZstdCompressor().compress
    assert read_workload(written(tmp_path, pack(TEXT) + pack(b"900,1,5\n"))).jobs.height == 501


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch, pack):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pack(TEXT))))
    workload = read_workload("-")
    assert (workload.jobs.height, workload.provenance.source) == (500, "-")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gzip.compress(TEXT)[:-40], "gzip file is truncated"),
        (gzip.compress(TEXT)[:-4] + b"abcd", "gzip file is damaged"),
        (gzip.compress(TEXT)[:12] + b"\xff" * 40, "gzip file is"),
        (zstandard.ZstdCompressor().compress(TEXT)[:-40], "zstd file is truncated"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "zstd file is damaged"),
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (gzip.compress(b""), "the file is empty"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x89PNG\r\n\x1a\n", "PNG picture"),
        (bytes(range(256)) * 4, "NUL bytes"),
        (b"\xfe\xed\xfa\xce" * 100, "not UTF-8"),
        (b"what is this\n", "not a job log of a known format"),
    ],
    ids=itertools.count(),  # the bytes of a gzip file tell the time, and xdist's workers must agree on names
)
def test_what_cannot_be_read_is_said(tmp_path, data, said):
    with pytest.raises(InputError, match=said):
        read_workload(written(tmp_path, data))


def test_missing_files_and_folders(tmp_path):
    written(tmp_path, TEXT, "trace.csv")
    with pytest.raises(InputError, match=r"no such file \(did you mean .*trace\.csv\?\)"):
        read_workload(tmp_path / "tracee.csv")
    with pytest.raises(InputError, match="this is a directory"):
        read_workload(tmp_path)
    with pytest.raises(InputError, match="does not exist either"):
        read_workload(tmp_path / "no" / "file.csv")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_what_unpacks_to_too_much_is_refused(pack, tmp_path, monkeypatch):
    """64 MiB of zeros are some kilobytes when packed."""
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(1 << 26)))
    monkeypatch.setenv("POINTSMAN_MOST_UNPACKED", "16MiB")
    with pytest.raises(InputError, match=r"bomb: it unpacks to more than 0.01562 GiB \(.*POINTSMAN_MOST_UNPACKED"):
        open_source(path)
    monkeypatch.setenv("POINTSMAN_MOST_UNPACKED", "much")
    with pytest.raises(UsageError, match="POINTSMAN_MOST_UNPACKED = 'much': write a size such as 16GiB"):
        open_source(path)


def test_large_pieces_are_whole_again(tmp_path):
    text = b"".join(b"%d,%d\n" % (k, k * 7919 % 10007) for k in range(200_000))
    for pack in (gzip.compress, zstandard.ZstdCompressor().compress):
        (tmp_path / "log").write_bytes(pack(text) + pack(text))
        assert open_source(tmp_path / "log").data == text + text


@pytest.mark.parametrize(("where", "said"), [("open_source", "to unpack it"), ("table_of", "for this log")])
def test_out_of_memory_names_the_file(where, said, tmp_path, monkeypatch):
    from pointsman.workload.readers import read

    def too_much(*_, **__):
        raise MemoryError

    monkeypatch.setattr(read, where, too_much)
    with pytest.raises(RunError, match=rf"jobs: there is not enough memory {said}"):
        read_workload(written(tmp_path, TEXT))
