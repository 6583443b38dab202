"""Processor time of a job: its own and that of its workers, which share its process group."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def cpu_s() -> float:
    """Processor time of this process, of its children that have ended, and of the other processes of its group."""
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system + _workers_s()


def has_workers() -> bool:
    """Whether other processes of this group run."""
    return any(words[0] != "Z" for words in _workers())


def _workers_s() -> float:
    """Processor time of the other processes of this group; 0 where the system has no ``/proc``."""
    ticks = sum(sum(map(int, words[11:15])) for words in _workers())  # in user and system mode, and of children
    return ticks / os.sysconf("SC_CLK_TCK")


def _workers() -> Iterator[list[str]]:
    """What ``/proc/PID/stat`` says, after the name, of each other process of this group."""
    own, group = str(os.getpid()), str(os.getpgrp())
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            words = (process / "stat").read_text().rpartition(")")[2].split()
            if words[2] == group and process.name != own:
                yield words
