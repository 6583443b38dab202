"""Write a job table: CSV, Parquet or SWF by the ending of the name, whole or not at all."""

import gzip
import sys
from pathlib import Path
from typing import Final

from pointsman.errors import RunError, UsageError
from pointsman.inputs.output_path import check_output_file, replace_files
from pointsman.workload.columns import REQUIRED, SCHEMA
from pointsman.workload.table import Workload

ENDINGS: Final = (".csv", ".parquet", ".swf")
_PACKED: Final = (".gz", ".zst")


def write_workload(workload: Workload, path: str | Path) -> None:
    """Write `workload` to `path`: `.parquet`, `.csv` or `.swf`, the last two also with `.gz` or `.zst`;
    `-` is CSV on standard output. An existing file is replaced, and only once the new one is whole.

    Raises:
        UsageError: an ending that is none of these.
        RunError: the file cannot be written (no folder, no right, disk full).
    """
    if str(path) == "-":
        sys.stdout.buffer.write(_csv(workload))
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    ending = check_ending(target)
    try:
        replace_files({target: _compress(_bytes(workload, ending), target.suffix)})
    except OSError as error:
        raise RunError(f"{target}: cannot be written: {error.strerror or error}") from None


def check_target(target: str | Path, *, force: bool) -> None:
    """Before any work: the ending says a format, nothing is in the way, and the folder takes a file.

    Raises:
        UsageError, RunError: one of these is not so.
    """
    if str(target) == "-":
        return
    check_ending(target)
    check_output_file(Path(target), force=force)


def check_ending(target: str | Path) -> str:
    """The ending of `target` that says its format, compression aside.

    Raises:
        UsageError: it says none.
    """
    path = Path(target)
    suffixes = path.suffixes
    ending = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] in _PACKED else path.suffix
    if ending not in ENDINGS or (ending == ".parquet" and path.suffix in _PACKED):
        endings = ", ".join(ENDINGS)
        raise UsageError(f"{path}: the ending says no format (use {endings}; .csv and .swf also with .gz or .zst)")
    return ending


def _bytes(workload: Workload, ending: str) -> bytes:
    if ending == ".csv":
        return _csv(workload)
    if ending == ".swf":
        from pointsman.workload.writers.swf_export import swf_text

        return swf_text(workload).encode()
    import io

    from pointsman.workload.readers.origin import remembered

    buffer = io.BytesIO()
    jobs = workload.jobs.rechunk()  # chunks, of which there are as many as threads, show in the file
    jobs.write_parquet(buffer, compression="zstd", statistics=False, metadata=remembered(workload))
    return buffer.getvalue()


def _csv(workload: Workload) -> bytes:
    jobs = workload.jobs
    silent = [name for name in SCHEMA if name not in REQUIRED and jobs[name].null_count() == jobs.height]
    if (jobs["priority"] == 0).all():
        silent.append("priority")
    return jobs.drop(silent).write_csv().encode()


def _compress(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data
