"""Where a training is kept: in the folder that was asked for or, if it may replace a checkpoint there, beside it.

A checkpoint is replaced when the new one is whole. Until then the new one is in a hidden folder beside the old one,
where an interrupted training can be resumed.
"""

import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import check_output, hidden
from pointsman.learn.checkpoint import CARD, METRICS, PARAMETERS, SEARCH, STATE, WEIGHTS, read_card

_WHOLE = (CARD, WEIGHTS, PARAMETERS, METRICS, STATE, SEARCH)
_OURS = {*_WHOLE, *(f".{name}.partial" for name in _WHOLE)}
_FIRST_SAVE = _OURS - {CARD}
_EVENTS = "events.out.tfevents."
"""How the names of TensorBoard's files begin."""


@dataclass(frozen=True)
class TrainingPlace:
    """The folder of one training."""

    final: Path
    """Where the checkpoint is wanted."""
    work: Path
    """Where it is trained: there, or beside it if it may replace what is there."""
    is_new: bool
    """Whether `work` was not there before."""

    @property
    def replaces(self) -> bool:
        """Whether the checkpoint is put into its place when it is whole."""
        return self.work != self.final

    @property
    def can_resume(self) -> bool:
        """Whether the training has been saved in `work`."""
        return (self.work / CARD).is_file() and any((self.work / name).is_file() for name in (STATE, SEARCH))

    def put(self) -> None:
        """Give the whole checkpoint its place.

        Raises:
            RunError: it cannot be put there; the old one is as it was, and the new one in `work`.
        """
        if not self.replaces:
            return
        aside = hidden(self.final, f"{uuid.uuid4().hex[:8]}.replaced")
        try:
            if os.path.lexists(self.final):
                check_ours(self.final)  # again, for it may have changed during the training
                self.final.rename(aside)
            try:
                self.work.rename(self.final)
            except OSError:
                if aside.exists():
                    aside.rename(self.final)
                raise
        except (UsageError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise RunError(f"the new checkpoint is whole but stays in {self.work}: {why}") from error
        shutil.rmtree(aside, ignore_errors=True)

    def left(self) -> str:
        """What a training that did not end leaves behind, in a sentence; empty if that is nothing, as is seen to."""
        if not self.can_resume:
            if self.is_new and self.work.is_dir():
                shutil.rmtree(self.work, ignore_errors=True)
            return ""
        if not self.replaces:
            return f"saved in {self.work}; --resume goes on"
        old = f"{self.final} is as it was; " if os.path.lexists(self.final) else ""
        return f"{old}the new training is saved in {self.work}; the same command with --resume goes on"


def find_places(directories: Sequence[Path], *, resume: bool, force: bool) -> list[TrainingPlace]:
    """Where trainings that are wanted in these directories are kept; nothing is written, and nothing removed but what
    a training has left that was killed before it was first saved.

    Args:
        directories: where the checkpoints are wanted.
        resume: go on with what is there; of several trainings, some may not have begun.
        force: replace what is there; with `resume`, go on with a training that was begun to do so.

    Raises:
        UsageError: they cannot be there. InputError: what is to be gone on with is no checkpoint.
    """
    for directory in directories:
        check_output(directory)
        for kept in {_place(directory, force=forced).work for forced in (False, True)}:
            _clear_up(kept)
    places = [_place(directory, force=force) for directory in directories]
    for place in places:
        if force and os.path.lexists(place.final):
            check_ours(place.final)
        if not resume:
            _check_free(place)
    if resume:
        _check_begun(places)
    return places


def _clear_up(directory: Path) -> None:
    """Remove a folder in which a training was killed before its card was there, the last file of the first save."""
    if directory.is_symlink() or not directory.is_dir():
        return
    found = {path.name for path in directory.iterdir()}
    if found and CARD not in found and found <= _FIRST_SAVE:
        shutil.rmtree(directory, ignore_errors=True)


def check_ours(directory: Path) -> None:
    """That a directory may be replaced: that a training wrote all that is in it.

    Raises:
        UsageError: it is something else, or holds something else. InputError: its card is broken.
    """
    instead = "so --force does not replace it; choose another place"
    if directory.is_symlink() or not directory.is_dir():
        raise UsageError(f"{directory} exists and is no checkpoint, {instead}")
    found = sorted(path.name for path in directory.iterdir())
    if found and CARD not in found:
        raise UsageError(f"{directory} exists and is no checkpoint, {instead}")
    for name in found:
        if name not in _OURS and not name.startswith(_EVENTS):
            raise UsageError(f"{directory} holds {name!r:.80}, which no training wrote, {instead}")
    if found:
        read_card(directory)


def _place(directory: Path, *, force: bool) -> TrainingPlace:
    if not force:
        return TrainingPlace(directory, directory, not os.path.lexists(directory))
    final = directory if directory.name not in ("", "..") else Path(os.path.abspath(directory))
    work = hidden(final, "unfinished")
    return TrainingPlace(final, work, not os.path.lexists(work))


def _check_free(place: TrainingPlace) -> None:
    if place.is_new:
        return
    if place.replaces:
        raise UsageError(
            f"a training that is to replace {place.final} is unfinished in {place.work}; "
            "go on with it by --force --resume, or remove it"
        )
    raise UsageError(
        f"{place.final} exists; go on with it by --resume, replace it by --force, or choose another with -o"
    )


def _check_begun(places: Sequence[TrainingPlace]) -> None:
    for place in places:
        if not place.is_new:
            read_card(place.work)
            check_output(place.work / CARD)
    if any(not place.is_new for place in places):
        return
    final, beside = places[0].final, _place(places[0].final, force=True)
    if places[0].replaces:
        raise UsageError(
            f"no training that is to replace {final} is unfinished; "
            "leave out --force to go on with what is there, or --resume to begin anew"
        )
    if beside.can_resume:
        raise UsageError(f"there is no training in {final}; add --force to go on with the one in {beside.work}")
    raise UsageError(f"there is no training in {final} to go on with; leave out --resume to begin one")
