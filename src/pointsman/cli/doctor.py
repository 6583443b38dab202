"""``pointsman doctor``: what a run needs, looked at one by one."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from pointsman.cli import screen
from pointsman.cli.version import dependency_versions

PLUG_INS = {"policy": "pointsman.policies", "trace format": "pointsman.traces"}
"""By what they add, their group of entry points."""
COMPILERS = ("numba", "llvmlite")
"""What a clone needs, and users with compiled policies of their own (``pointsman[compile]``)."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Finding(NamedTuple):
    """One check: its name, ``ok``, ``missing`` (a feature is away) or ``broken``, and what was found."""

    check: str
    state: str
    found: str


def doctor(
    format: Annotated[screen.Format, typer.Option("--format", help="Output format.")] = screen.Format.table,
) -> None:
    """Check the installation. The exit code is 1 if something is broken."""
    findings = list(examine())
    screen.show([finding._asdict() for finding in findings], format, left=("check", "state", "found"))
    broken = [finding.check for finding in findings if finding.state == "broken"]
    if broken:
        from pointsman.errors import RunError

        raise RunError(f"broken: {', '.join(broken)}; see the table")


def examine() -> Iterator[Finding]:
    """Every check, in the order in which a run would need them."""
    yield from _versions()
    for check, look in _CHECKS.items():
        try:
            yield Finding(check, "ok", look())
        except LookupError as absence:
            yield Finding(check, "missing", str(absence.args[0]))
        except Exception as error:
            yield Finding(check, "broken", f"{type(error).__name__}: {error}")


def _versions() -> Iterator[Finding]:
    from pointsman.engine.jit.built import table

    for name, version in dependency_versions().items():
        lacks = "missing" if name in COMPILERS and table()["units"] else "broken"
        yield Finding(name, lacks if version == "not installed" else "ok", version)


def _machine() -> str:
    total_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{sys.platform}, {screen.cores()} cores for us, {total_bytes / 1024**3:.0f} GiB"


def _compiled_code() -> str:
    from pointsman.cache_folder import find_place
    from pointsman.engine.jit import built

    if shipped := built.table()["units"]:
        built.library()
        return f"{len(shipped)} parts that came with the package, for {built.table()['target']}"
    place = find_place()
    size_bytes = sum(file.stat().st_size for file in place.folder.rglob("*") if file.is_file())
    state = f"{size_bytes / 1024**2:.0f} MiB" if size_bytes else "nothing yet; 'pointsman warmup' fills it"
    found = f"{place.folder} ({place.why}; {state})"
    if not place.lasts:
        raise LookupError(f"every command compiles anew: {found}")
    return found


def _jit() -> str:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise LookupError("NUMBA_DISABLE_JIT is set: everything runs as plain Python, a hundred times slower")
    return "on"


def _simulation() -> str:
    import polars as pl

    import pointsman
    from pointsman.workload import Workload

    jobs = pl.DataFrame({"submit_s": [0.0, 0.0, 1.0], "gpus": [2, 2, 1], "duration_s": [10.0, 5.0, 1.0]})
    result = pointsman.simulate(Workload.of(jobs), "1x2", "fifo", overheads="none")
    ends_s = result.jobs["end_s"].to_list()
    if ends_s != [10.0, 15.0, 16.0]:
        raise ValueError(f"three jobs under fifo end at {ends_s} s, not at 10, 15 and 16 s")
    return "three jobs under fifo end when they should"


def _plug_ins() -> str:
    from importlib.metadata import entry_points

    found = [(kind, point) for kind in PLUG_INS for point in entry_points(group=PLUG_INS[kind])]
    for _, point in found:
        point.load()
    return ", ".join(f"{kind} {point.name}" for kind, point in found) or "none installed"


def _browser() -> str:
    path = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if path is None:
        raise LookupError("none; only the test that opens the report needs one")
    return path


def _temporary_folder() -> str:
    import tempfile

    with tempfile.TemporaryFile():
        free_bytes = shutil.disk_usage(tempfile.gettempdir()).free
    return f"{Path(tempfile.gettempdir())}, {free_bytes / 1024**3:.0f} GiB free"


_CHECKS: dict[str, Callable[[], str]] = {
    "machine": _machine,
    "temporary folder": _temporary_folder,
    "compiler": _jit,
    "compiled code": _compiled_code,
    "plug-ins": _plug_ins,
    "simulation": _simulation,
    "browser": _browser,
}
