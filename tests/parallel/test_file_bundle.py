"""Files sent along mean there what they mean here."""

from pathlib import Path

import pytest

from pointsman.parallel.file_bundle import FileBundle, pack


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, with files in it and beside it."""
    home = tmp_path / "home"
    (home / "weights").mkdir(parents=True)
    (home / "fifo").mkdir()
    (home / "fifo" / "big").write_bytes(b"of no interest")
    (home / "own.py").write_text("own")
    (home / "weights" / "policy.yaml").write_text("yaml")
    (tmp_path / "beside.yaml").write_text("beside")
    monkeypatch.chdir(home)
    return home


def read_there(bundle: FileBundle, name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patch:
        patch.chdir(bundle.unpacked(root))
        return Path(bundle.there(name)).read_text()


def test_relative_names_stay_and_absolute_ones_come_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["own.py", "./own.py", "../beside.yaml", str(home / "own.py"), str(tmp_path / "beside.yaml")]
    bundle = pack(names)
    (home / "own.py").write_text("another by now")
    texts = [read_there(bundle, name, tmp_path / "there", monkeypatch) for name in names]
    assert texts == ["own", "own", "beside", "own", "beside"]
    there = bundle.there(names)
    assert there[:3] == names[:3]
    assert not any(Path(name).is_absolute() for name in there)
    assert bundle.back({"told": [f"the profiles of {name} are of no use" for name in there]}) == {
        "told": [f"the profiles of {name} are of no use" for name in names]
    }


def test_names_are_found_within_other_text(home: Path) -> None:
    spec = {"policies": [{"name": f"rounds({home}/own.py:Own, 60)", "params": {}}], "interference": "law:weights"}
    assert set(pack(spec).contents) == {f"{home}/own.py", f"{home}/weights/policy.yaml"}
    assert pack(spec).there(spec["policies"]) == [{"name": "rounds(.//own.py:Own, 60)", "params": {}}]


def test_a_folder_named_like_a_policy_stays_here(home: Path) -> None:
    assert not pack(["fifo", "rounds(fifo, 60)"]).contents


def test_the_same_bundle_is_unpacked_once(home: Path, tmp_path: Path) -> None:
    folder = pack(["own.py"]).unpacked(tmp_path / "there")
    made = (folder / "own.py").stat().st_ino
    assert pack(["own.py"]).unpacked(tmp_path / "there") == folder
    assert (folder / "own.py").stat().st_ino == made
    assert [each.name for each in (tmp_path / "there").iterdir()] == [folder.relative_to(tmp_path / "there").parts[0]]
