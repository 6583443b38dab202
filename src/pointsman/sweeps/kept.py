"""Finished runs, kept beside the directory that a command is going to write, so that it can go on after a kill.

``DIR`` has the folder ``.DIR.runs`` beside it until it is whole. Each run in there is named by its digest and appears
when all of it is written; ``docs/formats/run-directory.md`` says more.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pointsman.inputs.output_path import hidden, write_whole
from pointsman.parallel.file_bundle import FileBundle
from pointsman.parallel.workers import Workers
from pointsman.report.result import Result
from pointsman.sweeps.digests import kept_name


class Store(Protocol):
    """Things that are finished, by their digests."""

    def has(self, digest: str) -> bool:
        """Whether it is there, whole."""
        ...

    def add(self, digest: str, thing: Any) -> None:
        """Keep it."""
        ...

    def take(self, digest: str) -> Any:
        """The thing; it is asked for once."""
        ...

    def place(self, digest: str) -> Path | None:
        """Where it is on disk; None: nowhere."""
        ...

    def clear(self) -> None:
        """Remove everything; it is not needed any more."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Things that go with the process."""

    things: dict[str, Any] = field(default_factory=dict)

    def has(self, digest: str) -> bool:
        return digest in self.things

    def add(self, digest: str, thing: Any) -> None:
        self.things[digest] = thing

    def take(self, digest: str) -> Any:
        return self.things.pop(digest)

    def place(self, digest: str) -> None:
        return None

    def clear(self) -> None:
        self.things.clear()


@dataclass(frozen=True)
class Results:
    """Results of runs, each in a directory."""

    folder: Path

    def has(self, digest: str) -> bool:
        from pointsman.report.run_reading import is_whole_run

        return is_whole_run(self.place(digest))

    def add(self, digest: str, thing: Result) -> None:
        from pointsman.report.rundir import keep_run

        keep_run(self.place(digest), thing)

    def take(self, digest: str) -> Result:
        from pointsman.report.run_reading import read_run

        return read_run(self.place(digest))

    def place(self, digest: str) -> Path:
        return self.folder / kept_name(digest)

    def clear(self) -> None:
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class Values:
    """Plain data, each in a JSON file."""

    folder: Path

    def has(self, digest: str) -> bool:
        return self.place(digest).is_file()

    def add(self, digest: str, thing: Any) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.place(digest), json.dumps(thing))

    def take(self, digest: str) -> Any:
        return json.loads(self.place(digest).read_text(encoding="utf-8"))

    def place(self, digest: str) -> Path:
        return self.folder / f"{kept_name(digest)}.json"

    def clear(self) -> None:
        for path in self.folder.glob("*.json"):
            path.unlink(missing_ok=True)


def folder_of(directory: Path) -> Path:
    """Where the finished runs of a command that writes `directory` are kept."""
    return hidden(directory, "runs")


def results_for(directory: Path | None) -> Store:
    """Where a command that writes `directory` keeps results; in memory if it writes none."""
    return InMemory() if directory is None else Results(folder_of(directory))


def values_for(directory: Path | None) -> Store:
    """Where a command that writes `directory` keeps values; in memory if it writes none."""
    return InMemory() if directory is None else Values(folder_of(directory))


def forget(directory: Path | None) -> None:
    """Remove what was kept for `directory`: it is written now."""
    if directory is not None:
        shutil.rmtree(folder_of(directory), ignore_errors=True)


def finish(
    digests: Sequence[str],
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    workers: Workers,
    store: Store,
    bundle: FileBundle | None = None,
    received: Callable[[Any], Any] = lambda found: found,
) -> Iterator[Any]:
    """Make calls that `store` lacks, and add what each returns as soon as it does; yields it, in any order.

    Args:
        digests: what determines each call.
        function: what is called.
        calls: the arguments of each.
        workers: what runs them.
        store: where what is finished is kept.
        bundle: files that far workers need.
        received: what makes of that which comes back what is kept.
    """
    numbered = [(k, function, *call) for k, call in enumerate(calls)]
    for k, found in workers(_call_numbered, numbered, bundle, in_order=False):
        thing = received(found)
        store.add(digests[k], thing)
        yield thing


def _call_numbered(k: int, function: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    return k, function(*arguments)
