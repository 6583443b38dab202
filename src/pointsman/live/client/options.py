"""The options of a submission, on the command line and in ``#SBATCH`` and ``#POINTSMAN`` lines of scripts."""

import argparse
import difflib
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, Final, NoReturn

from pointsman.errors import InputError, UsageError
from pointsman.inputs.durations import parse_duration_s

_MARKS: Final = ("#SBATCH", "#POINTSMAN")
_SHELLS: Final = ("sh", "bash", "dash", "zsh")
"""That take a script as an argument, so that its file may change or vanish after its submission."""
_IGNORED: Final = (
    ("-c", "--cpus-per-task"), ("--cpus-per-gpu",), ("--mem",), ("--mem-per-cpu",), ("--mem-per-gpu",),
    ("--mail-type",), ("--mail-user",), ("--comment",), ("--cpu-bind",), ("--hint",),
)  # fmt: skip
_NO_OPTIONS: Final = ("verb", "command", "parsable", "wrap")
"""Arguments that are no options of a job: they say what is to be done with it."""
_MOST_BYTES: Final = 131_000
"""The most bytes of one argument of a process."""


class Parser(argparse.ArgumentParser):
    """One that says what is wrong in one sentence, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        if unknown := re.match(r"unrecognized arguments: (\S+)", message):
            known = [name for action in self._actions for name in action.option_strings]
            near = difflib.get_close_matches(unknown[1].partition("=")[0], known, 1)
            raise UsageError(f"unknown option {unknown[1]!r:.60}" + (f" (did you mean {near[0]}?)" if near else ""))
        raise UsageError(message)


def time_limit_s(text: str) -> float | None:
    """Seconds; a plain number is minutes, and 0 is no limit, as Slurm has it.

    Raises:
        UsageError: it is no duration.
    """
    if text.upper() in ("UNLIMITED", "INFINITE"):
        return None
    try:
        limit_s = 60 * float(text) if re.fullmatch(r"\d+(\.\d*)?", text) else parse_duration_s(text)
    except ValueError:
        said = "write minutes, as in 90, or 90m, 1:30:00, 1-12:00:00, 36h"
        raise UsageError(f"--time: {text!r:.40} is no duration; {said}") from None
    return limit_s or None


def whole_name(text: str) -> str:
    """The name of a policy or of overheads; that of a file from the root on, because the daemon is elsewhere."""
    path, colon, name = text.partition(":")
    return f"{Path(path).resolve()}{colon}{name}" if Path(path).suffix and Path(path).is_file() else text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of a submission."""
    add = parser.add_argument
    add("-G", "--gpus", metavar="[TYPE:]N", help="number of GPUs (default 1)")
    add("-N", "--nodes", type=int, metavar="N", help="number of nodes, with equally many GPUs on each")
    add("--gpus-per-node", type=int, metavar="N", help="GPUs on each node")
    add("--gres", metavar="gpu[:TYPE]:N", help="GPUs on each node, as in Slurm")
    add("--gpu-type", metavar="TYPE", help="GPU type, or alternatives: 'A100|H100'")
    add("-p", "--partition", metavar="NAME", help="partition")
    add("-q", "--queue", "--qos", dest="queue", metavar="NAME", help="queue")
    add("-A", "--account", metavar="NAME", help="account")
    add("-t", "--time", dest="time_limit_s", type=time_limit_s, metavar="TIME", help="time limit: minutes, H:M:S, 2h")
    add("-J", "--job-name", dest="name", metavar="NAME", help="name of the job")
    add("-o", "--output", metavar="FILE", help="output file; %%j is the job id, %%a the attempt")
    add("-e", "--error", metavar="FILE", help="file for standard error (default: the output file)")
    add("-D", "--chdir", dest="folder", metavar="DIR", help="working directory (default: the present one)")
    add("-H", "--hold", action="store_true", default=None, help="hold the job until it is released")
    add("--requeue", action="store_true", default=None, help="the job may be preempted and run again")
    add("--no-requeue", dest="requeue", action="store_false", help="the job may not be preempted (default)")
    add("--zero-is-done", action="store_true", default=None, help="exit code 0 means done, even when asked to stop")
    add("--signal", metavar="USR1@SECONDS", help="send SIGUSR1 so long before SIGTERM when the job is to stop")
    add("--grace", dest="grace_s", type=float, metavar="SECONDS", help="time between SIGTERM and SIGKILL (default 30)")
    add("--model", metavar="NAME", help="model, for policies that use profiles")
    add("--batch", dest="batch_size", type=int, metavar="N", help="batch size over all GPUs")
    add("--priority", type=int, metavar="N", help="priority; higher goes first")
    add("--export", metavar="ALL|NONE|NAME[=VALUE],...", help="environment of the job (default ALL)")
    add("-n", "--ntasks", type=int, metavar="N", help="with --ntasks-per-node: N / that many nodes; else ignored")
    add("--ntasks-per-node", "--tasks-per-node", type=int, metavar="N", help="see --ntasks")
    add("--wrap", metavar="COMMAND", help="run this in a shell instead of a script")
    for names in _IGNORED:
        add(*names, dest="ignored", action="append", metavar="VALUE", help="accepted for Slurm's sake, and ignored")
    add("--request-key", metavar="KEY", help="a repeated submission with the same key is the same job")


def submission(arguments: argparse.Namespace) -> dict[str, Any]:
    """The body of a submission.

    Raises:
        InputError: an option in the script is wrong. UsageError: one on the command line.
    """
    words = arguments.command
    if arguments.wrap is not None and not words:
        words = ["--", "/bin/sh", "-c", arguments.wrap]
    command = words[1:] if words[:1] == ["--"] else words
    if not command:
        raise UsageError("give a script, or a command after --")
    found = {k: v for k, v in vars(arguments).items() if k not in _NO_OPTIONS and v is not None}
    if words[:1] != ["--"]:
        path = Path(command[0])
        if not path.is_file():
            raise InputError("there is no such script", path=path, fix="a command comes after --")
        text = _read(path)
        found = {"name": re.sub(r"[^A-Za-z0-9_.+:@/=-]", "_", path.name[:64])} | _options_in(path, text) | found
        command = _as_argument(path, text, command)
    return _body(found, command)


def supposed(text: str) -> dict[str, Any]:
    """The body of a submission that is only asked about.

    Raises:
        UsageError: an option is wrong.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--submit {text!r:.60}: {error}") from None
    return _body(_parse_words(words) | {"export": "NONE"}, ["true"])


def _parse_words(words: list[str]) -> dict[str, Any]:
    """The options of a submission that stand in these words."""
    parser = Parser(add_help=False, allow_abbrev=False)
    add_options(parser)
    return {k: v for k, v in vars(parser.parse_args(words)).items() if v is not None}


def _body(found: dict[str, Any], command: list[str]) -> dict[str, Any]:
    body = {"command": command, "folder": str(Path(found.pop("folder", ".")).resolve())}
    if found.pop("ignored", None):
        print("pointsman: processors, memory and mail are not managed here; those options are ignored", file=sys.stderr)
    if gpus := found.pop("gpus", None):
        found |= _of_gpus(gpus)
    if gres := found.pop("gres", None):
        found |= _of_gres(gres)
    tasks, on_each = found.pop("ntasks", None), found.pop("ntasks_per_node", None)
    if tasks and on_each and "nodes" not in found:
        found["nodes"] = -(-tasks // on_each)
    nodes, each = found.get("nodes"), found.get("gpus_per_node")
    if "gpus" not in found and (each or nodes):
        found["gpus"] = (each or 1) * (nodes or 1)
    if asks := found.pop("signal", None):
        found["checkpoint_s"] = _of_signal(asks)
    return body | {"environment": _exported_variables(found.pop("export", "ALL"))} | found


def _exported_variables(asked: str) -> dict[str, str]:
    """The variables of the environment that a job gets."""
    if asked == "NONE":
        return {}
    names = asked.split(",")
    found = {k: v for k, v in os.environ.items() if k in names or "ALL" in names}
    unreadable = [name for name, value in found.items() if not (name + value).isprintable() and not _is_text(value)]
    for name in unreadable:
        print(f"pointsman: the variable {name!a} is not UTF-8, and is left out", file=sys.stderr)
        del found[name]
    return found | dict(word.split("=", 1) for word in names if "=" in word)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of_gpus(text: str) -> dict[str, Any]:
    kind, _, many = text.rpartition(":")
    if not many.isdigit():
        raise UsageError(f"--gpus={text}: it is a number, as in 4, or a type and a number, as in a100:4")
    return {"gpus": int(many)} | ({"gpu_type": kind} if kind else {})


def _of_gres(text: str) -> dict[str, Any]:
    found = re.fullmatch(r"gpu(?::(?P<type>[A-Za-z][\w.+-]*))?(?::(?P<many>\d+))?", text)
    if not found:
        raise UsageError(f"--gres={text}: only GPUs can be requested, as in gpu:4 or gpu:a100:4")
    return {"gpus_per_node": int(found["many"] or 1)} | ({"gpu_type": found["type"]} if found["type"] else {})


def _of_signal(text: str) -> float:
    found = re.fullmatch(r"(?:SIG)?(?:USR1|10)@(\d+)", text)
    if not found:
        raise UsageError(f"--signal={text}: only USR1@SECONDS can be sent, to all processes of the job")
    return float(found[1])


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        raise InputError("this is no script", path=path, fix="run a program by its path after --") from None


def _options_in(path: Path, text: str) -> dict[str, Any]:
    """Reads the options in the marked lines before the first command."""
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            break
        mark = next((mark for mark in _MARKS if line.startswith(mark + " ")), None)
        if mark is None:
            continue
        try:
            found |= _parse_words(shlex.split(line[len(mark) :], comments=True))
        except (UsageError, ValueError) as error:
            raise InputError(str(error), path=path, line=number, fix="see 'pointsman submit --help'") from None
    return found


def _as_argument(path: Path, text: str, command: list[str]) -> list[str]:
    """The script as it is now, for its interpreter."""
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        raise InputError("its first line names no interpreter", path=path, line=1, fix="begin it with #!/bin/bash")
    words = shlex.split(first[2:])
    named = [word for word in words if not word.startswith("-") and Path(word).name != "env"]
    is_shell = len(named) == 1 and Path(named[0]).name in _SHELLS
    if not is_shell or len(text.encode()) > _MOST_BYTES:
        return [*words, str(path.resolve()), *command[1:]]  # it must stay where it is
    return [*words, "-c", text, str(path), *command[1:]]
