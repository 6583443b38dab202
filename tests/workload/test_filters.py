"""Keeping a part of a log: `only`."""

from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.workload import read_workload
from pointsman.workload.readers.read import filters

HERE = Path(__file__).parent / "fixtures"


def kept(name, only):
    return read_workload(HERE / name, only=only).jobs["job_id"].to_list()


def test_by_queue_its_alias_and_status_whatever_the_case():
    assert kept("gathered.csv", {"queue": "blue"}) == ["g1", "g2"]
    assert kept("gathered.csv", {"vc": "BLUE", "status": "completed"}) == ["g1"]
    assert kept("helios.csv", {"status": ["completed", "node_fail"]}) == ["1", "3"]
    assert kept("spot.csv", {"priority": "1"}) == ["7"]


def test_what_is_left_out_is_counted():
    workload = read_workload(HERE / "native.csv", only={"user": "bob"})
    quality = workload.quality
    assert quality.dropped == {"asks for no GPU": 1, "not user=bob": 2}
    assert (quality.rows_read, quality.kept) == (4, 1)
    assert workload.provenance.as_dict()["only"] == "user=bob"
    assert str(workload.provenance).endswith("native.csv (format csv), only user=bob")
    assert not any("part of a GPU" in note for note in quality.notes)


def test_what_cannot_be_kept_is_said():
    with pytest.raises(UsageError, match=r"no such column \(did you mean 'queue'\?\)"):
        kept("gathered.csv", {"quue": "blue"})
    with pytest.raises(UsageError, match=r"no job has vc=green \(it has blue\)"):
        kept("gathered.csv", {"vc": "green"})
    with pytest.raises(UsageError, match="the log does not record it"):
        kept("itp.csv", {"user": "ann"})


def test_texts_of_the_command_line():
    assert filters(["vc=a", "vc=b,c", "completed"]) == {"vc": ["a", "b", "c"], "status": ["completed"]}
    for text in ("vc=", "=a", "", "vc=,"):
        with pytest.raises(UsageError, match="is not COLUMN=VALUE"):
            filters([text])
