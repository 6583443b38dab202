"""A checkpoint is replaced by a whole one or not at all, and nothing that is not ours is ever removed."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from pointsman.errors import InputError, RunError

from .command import pointsman
from .conftest import Command, Once

for package in ("torch", "gymnasium", "safetensors", "tensorboard"):
    pytest.importorskip(package, reason=f"{package} is not installed (make learn)")

from safetensors.torch import load_file  # noqa: E402

from pointsman.learn import training  # noqa: E402
from pointsman.learn.checkpoint import read_card  # noqa: E402
from pointsman.learn.training_directory import TrainingPlace, find_places  # noqa: E402

SMALL = [
    *("--cluster", "1x2", "--set", "practice.jobs=5", "--set", "practice.episodes=2"),
    *("--set", "practice.horizon_s=10m"),
]
FEW = ["--set", "reinforce.rollouts=2", "--set", "reinforce.sequences=1"]
TRAIN = ["train", "deeprm", *SMALL, *FEW]


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def old(command: Command, here: Path, once: Once) -> Path:
    """A whole checkpoint."""

    def fill() -> None:
        done = command(*TRAIN, "--steps", "1", "-o", "mine")
        assert done.code == 0, done.err

    once("old", fill)
    return here / "mine"


@pytest.fixture
def stops() -> Generator[Callable[[BaseException], None]]:
    """Makes the next training stop with an error after an update."""
    patch = pytest.MonkeyPatch()

    def stop(error: BaseException) -> None:
        def label(row: dict) -> str:
            patch.undo()
            raise error

        patch.setattr(training, "_label", label)

    yield stop
    patch.undo()


def test_a_command_that_is_wrong_leaves_the_old_one(command: Command, old: Path) -> None:
    before = content(old)
    for given, code, said in [
        (["--device", "quantum"], 2, "--device quantum: "),
        (["--set", "reinforce.gamma=7"], 2, "reinforce.gamma"),
        (["--workload", "none.csv"], 2, "no such file"),
        (["--cluster", "1xx2"], 2, "1xx2"),
        (["--on", "moon"], 2, "--on 'moon'"),
    ]:
        done = command(*TRAIN, "--steps", "1", "-o", "mine", "--force", *given)
        assert done.code == code and said in done.err, done.err
        assert content(old) == before and names(old.parent) == ["mine"]


def test_it_is_replaced_when_the_new_one_is_whole(command: Command, old: Path) -> None:
    before = content(old)
    done = command(*TRAIN, "--steps", "1", "-o", "mine", "--seed", "7")
    assert done.code == 2 and "mine exists; go on with it by --resume, replace it by --force" in done.err
    done = command(*TRAIN, "--steps", "1", "-o", "mine", "--seed", "7", "--force")
    assert done.code == 0 and "checkpoint: mine (use it with --policy deeprm:mine)" in done.err
    assert "seed: 7\n" in (old / "policy.yaml").read_text() and content(old) != before
    assert names(old.parent) == ["mine"]
    assert len(names(old)) == len(before)


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (RunError("it has come to NaN"), 1), (SystemExit(143), 143)]
)
def test_an_unfinished_one_can_be_resumed(command: Command, old: Path, stops, error: BaseException, code: int) -> None:
    before = content(old)
    again = [*TRAIN, "--steps", "30", "-o", "mine", "--force"]
    stops(error)
    if isinstance(error, SystemExit):
        with pytest.raises(SystemExit):
            command(*again)
    else:
        done = command(*again)
        assert done.code == code, done.err
        assert (
            "mine is as it was; the new training is saved in .mine.unfinished; the same command with --resume goes on"
        ) in done.err
    assert content(old) == before and names(old.parent) == [".mine.unfinished", "mine"]

    refused = command(*again)
    assert refused.code == 2 and "go on with it by --force --resume, or remove it" in refused.err
    assert content(old) == before
    done = command(*again, "--resume")
    assert done.code == 0, done.err
    assert names(old.parent) == ["mine"] and content(old) != before

    whole = command(*TRAIN, "--steps", "30", "-o", "whole")
    assert whole.code == 0
    for name in ("policy.safetensors", "training.safetensors"):
        assert content(old)[name] == content(old.parent / "whole")[name]


def test_replicas_are_replaced_together(command: Command, here: Path, stops) -> None:
    both = [*TRAIN, "-o", "mine", "--seeds", "2", "--force", "--steps"]
    assert command(*both, "1").code == 0 and names(here / "mine") == ["seed-0", "seed-1"]
    before = [content(here / "mine" / seed) for seed in ("seed-0", "seed-1")]
    stops(KeyboardInterrupt())
    assert command(*both, "30").code == 130
    assert names(here / "mine") == [".seed-0.unfinished", "seed-0", "seed-1"]
    assert [content(here / "mine" / seed) for seed in ("seed-0", "seed-1")] == before
    done = command(*both, "30", "--resume")
    assert done.code == 0, done.err
    assert names(here / "mine") == ["seed-0", "seed-1"]
    assert all(content(here / "mine" / f"seed-{k}") != before[k] for k in (0, 1))


def test_replicas_that_had_not_begun_begin_on_resuming(command: Command, here: Path, stops) -> None:
    both = [*TRAIN, "-o", "mine", "--seeds", "2", "--steps", "30"]
    stops(KeyboardInterrupt())
    done = command(*both)
    assert done.code == 130 and "saved in mine/seed-0; --resume goes on" in done.err
    assert names(here / "mine") == ["seed-0"]
    assert command(*both, "--resume").code == 0 and names(here / "mine") == ["seed-0", "seed-1"]


def test_what_cannot_be_resumed(command: Command, old: Path) -> None:
    (old.parent / "empty").mkdir()
    (old.parent / "file").write_text("mine")
    for place, given, code, said in [
        ("none", [], 2, "there is no training in none to go on with; leave out --resume to begin one"),
        ("none", ["--seeds", "2"], 2, "there is no training in none/seed-0 to go on with"),
        ("none", ["--force"], 2, "no training that is to replace none is unfinished; "),
        ("mine", ["--force"], 2, "no training that is to replace mine is unfinished; "),
        ("empty", [], 3, "empty: no policy.yaml in it"),
        ("file", [], 3, "file: there is no such directory"),
        ("mine", ["--set", "deeprm.hidden=7"], 3, "network was config.hidden = 20 when this training began"),
    ]:
        before = content(old)
        done = command(*TRAIN, "--steps", "1", "--resume", "-o", place, *given)
        assert done.code == code and said in done.err and "saved in" not in done.err, done.err
        assert content(old) == before and names(old.parent) == ["empty", "file", "mine"]
    done = command("train", "topdrl", *SMALL, "--steps", "1", "--resume", "-o", "mine")
    assert done.code == 3 and "mine/policy.yaml: a training of deeprm, not of topdrl" in done.err


def test_an_unfinished_replacement_is_found_though_nothing_is_there_to_replace(
    command: Command, here: Path, stops
) -> None:
    stops(KeyboardInterrupt())
    done = command(*TRAIN, "--steps", "30", "-o", "mine", "--force")
    assert done.code == 130 and "\nthe new training is saved in .mine.unfinished" in done.err
    done = command(*TRAIN, "--steps", "30", "-o", "mine", "--resume")
    assert done.code == 2 and "add --force to go on with the one in .mine.unfinished" in done.err
    assert command(*TRAIN, "--steps", "30", "-o", "mine", "--resume", "--force").code == 0
    assert names(here) == ["mine"]


def test_what_is_not_ours_is_not_replaced(command: Command, old: Path) -> None:
    here = old.parent
    (here / "file").write_text("mine")
    (here / "notes").mkdir()
    (here / "notes" / "todo.txt").write_text("mine")
    (here / "link").symlink_to("mine")
    shutil.copytree(old, here / "more")
    (here / "more" / "todo.txt").write_text("mine")
    shutil.copytree(old, here / "alien")
    (here / "alien" / "policy.yaml").write_text("kind: Policy\n")
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    for place, code, said in [
        ("file", 2, "file exists and is no checkpoint, so --force does not replace it"),
        ("notes", 2, "notes exists and is no checkpoint, so --force does not replace it"),
        ("link", 2, "link exists and is no checkpoint, so --force does not replace it"),
        ("more", 2, "more holds 'todo.txt', which no training wrote, so --force does not replace it"),
        ("alien", 3, "alien/policy.yaml"),
        (".", 2, "exists and is no checkpoint"),
        ("..", 2, "exists and is no checkpoint"),
        ("/", 2, "exists and is no checkpoint"),
    ]:
        done = command(*TRAIN, "--steps", "1", "--force", "-o", place)
        assert done.code == code and said in done.err, (place, done.err)
        assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_an_empty_folder_is_replaced(command: Command, here: Path) -> None:
    (here / "mine").mkdir()
    assert command(*TRAIN, "--steps", "1", "--force", "-o", "mine").code == 0
    assert "policy.yaml" in names(here / "mine") and names(here) == ["mine"]


def test_what_was_added_meanwhile_is_kept(old: Path) -> None:
    (place,) = find_places([old], resume=False, force=True)
    shutil.copytree(old, place.work)
    (old / "todo.txt").write_text("mine")
    with pytest.raises(RunError, match=r"the new checkpoint is whole but stays in .*\.mine\.unfinished: .*'todo\.txt'"):
        place.put()
    assert (old / "todo.txt").exists() and place.can_resume


def test_a_swap_that_fails_puts_the_old_one_back(old: Path) -> None:
    place = TrainingPlace(old, old.parent / ".mine.unfinished", is_new=True)  # which is not there
    before = content(old)
    with pytest.raises(RunError, match=os.strerror(errno.ENOENT)):
        place.put()
    assert content(old) == before and names(old.parent) == ["mine"]


def test_a_broken_card_is_an_input_error(old: Path) -> None:
    (old / "policy.yaml").write_text("format: 0\n")
    with pytest.raises(InputError, match="an older Pointsman"):
        find_places([old], resume=True, force=False)


def is_of_one_moment(directory: Path) -> bool:
    """Whether what the card says, the weights and the state of the training were saved together."""
    card = read_card(directory)
    weights, state = (load_file(directory / name) for name in ("policy.safetensors", "training.safetensors"))
    same = all(tensor.equal(state[f"network.{name}"]) for name, tensor in weights.items())
    return same and card.steps == int(state["done"][1])


@pytest.mark.parametrize("last", ["training.safetensors", "policy.safetensors", "policy.yaml"])
def test_where_one_file_cannot_be_written_all_stay_as_they_were(old: Path, command: Command, last: str) -> None:
    before = content(old)
    in_the_way = old / f".{last}.partial"
    in_the_way.mkdir()
    done = command(*TRAIN, "--steps", "50", "--resume", "-o", "mine")
    assert done.code == 1 and "the training cannot be saved" in done.err
    in_the_way.rmdir()
    assert {name: data for name, data in content(old).items() if name in before and "policy" in name} == {
        name: data for name, data in before.items() if "policy" in name
    }
    assert is_of_one_moment(old)
    assert command(*TRAIN, "--steps", "50", "--resume", "-o", "mine").code == 0
    assert is_of_one_moment(old) and read_card(old).steps >= 50


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a small file system")
@pytest.mark.parametrize("kib", [80, pytest.param(200, marks=pytest.mark.slow)])
def test_a_full_disk(old: Path, kib: int) -> None:
    """At the first save or at a later file of it: the old one is as it was, and the sentence says where room lacks."""
    disk = old.parent / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        shutil.copytree(old, disk / "mine")
        before = content(disk / "mine")
        used = sum(path.stat().st_blocks * 512 for path in disk.rglob("*"))
        (disk / "rest").write_bytes(bytes(max(0, (4 << 20) - used - (kib << 10))))
        given = [*TRAIN, "--steps", "3000", "-o", str(disk / "mine"), "--force"]
        done = pointsman(*given, cwd=old.parent, env={"NUMBA_DISABLE_JIT": "1"})
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
        assert "the training cannot be saved: No space left on device; make room there" in done.stderr
        assert content(disk / "mine") == before
        assert names(disk)[-2:] == ["mine", "rest"]
        left = [path for path in disk.iterdir() if path.name == ".mine.unfinished"]
        assert bool(left) == ("the new training is saved in" in done.stderr)
        for path in left:
            assert is_of_one_moment(path)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("left", [[".policy.yaml.partial"], ["training.safetensors", "policy.safetensors"]])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_what_was_killed_before_it_was_saved_is_in_nobodys_way(
    left: list[str], force: tuple[str, ...], command: Command, here: Path
) -> None:
    half = here / (".mine.unfinished" if force else "mine")
    half.mkdir()
    for name in left:
        (half / name).write_text("half")
    done = command(*TRAIN, "--steps", "1", *force, "-o", "mine")
    assert done.code == 0, done.err
    assert names(here) == ["mine"] and is_of_one_moment(here / "mine")
