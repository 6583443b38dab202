"""A text may be the name of a file, or anything else."""

from pathlib import Path

import pytest

from pointsman.inputs.file_name import names_file, names_folder


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert names_file(tmp_path / "a") and not names_file(tmp_path)
    assert names_folder(tmp_path) and not names_folder(tmp_path / "a")


@pytest.mark.parametrize("text", ["", "n" * 300, "/".join(["n" * 200] * 30), "a\0b", "\ud800"])
def test_what_no_file_is_called(text: str) -> None:
    assert not names_file(f"x{text}x") and not names_folder(f"x{text}x")
