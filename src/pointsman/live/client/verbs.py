"""``pointsman submit``, ``queue``, ``cancel`` and the other commands of users and operators."""

import argparse
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pointsman.errors import BackendError, InputError, PointsmanError, UsageError
from pointsman.inputs.durations import parse_duration_s
from pointsman.live.client import VERBS
from pointsman.live.client.choice import add_states, add_users, chosen, ids_chosen, own_name
from pointsman.live.client.connection import Refused, call, quoted
from pointsman.live.client.options import Parser, add_options, submission, supposed, whole_name
from pointsman.live.client.show import HISTORY, IN_QUEUE, NODES, QUEUE, STARTS, show, show_answer, show_one

ENDED: Final = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
POLL_S: Final = 0.2
FORETELLING_S: Final = 600.0
"""How long an answer about the future may take."""
AWAY_S: Final = 120.0
"""How long the daemon may be away while a job is followed."""


def submit(arguments: argparse.Namespace) -> int:
    """Submit a job; print its id."""
    number = call("POST", "/jobs", submission(arguments))["job_id"]
    print(number if arguments.parsable else f"Submitted job {number}")
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Submit a job, print its output, and leave with its exit code; Ctrl-C cancels it."""
    body = submission(arguments)
    number = call("POST", "/jobs", body)["job_id"]
    print(f"pointsman: job {number} is queued", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        row = _follow(number)
    except KeyboardInterrupt:
        call("POST", f"/jobs/{number}/cancel")
        print(f"pointsman: job {number} is cancelled", file=sys.stderr)
        return 130
    attempts = row["attempts"]
    last = attempts[-1] if attempts else {}
    if row["state"] == "COMPLETED":
        return 0
    why = f" ({last['detail']})" if last.get("detail") else ""
    print(f"pointsman: job {number} ended: {row['state']}{why}", file=sys.stderr)
    if last.get("exit_signal"):
        return 128 + int(last["exit_signal"])
    return int(last.get("exit_code") or 1)


def queue(arguments: argparse.Namespace) -> int:
    """List the jobs that have not ended."""
    if arguments.start:
        rows = call("GET", "/starts", timeout_s=FORETELLING_S)
    elif arguments.format == "table":
        rows = [dict(zip(IN_QUEUE, row, strict=True)) for row in call("GET", f"/jobs?columns={','.join(IN_QUEUE)}")]
    else:
        rows = call("GET", "/jobs")
    show(chosen(rows, arguments), STARTS if arguments.start else QUEUE, arguments.format)
    return 0


def history(arguments: argparse.Namespace) -> int:
    """List jobs that have ended, the last first."""
    name = own_name() if arguments.me else arguments.user
    user = f"&user={quoted(name)}" if name else ""
    show(call("GET", f"/history?most={arguments.most}{user}"), HISTORY, arguments.format)
    return 0


def nodes(arguments: argparse.Namespace) -> int:
    """List the nodes."""
    show(call("GET", "/nodes"), NODES, arguments.format)
    return 0


def show_job(arguments: argparse.Namespace) -> int:
    """Print all that is known of a job."""
    row = call("GET", f"/jobs/{quoted(arguments.job)}")
    row.pop("environment", None)
    show_one(row, arguments.format)
    return 0


def explain(arguments: argparse.Namespace) -> int:
    """Say why a job waits."""
    row = call("GET", f"/jobs/{quoted(arguments.job)}/explain", timeout_s=FORETELLING_S)
    reason = f" ({row['reason']})" if row["reason"] else ""
    if arguments.format == "json":
        show_one(row, "json")
    else:
        said = "; ".join(row[name] for name in ("said", "expected") if name in row)
        print(f"job {row['job_id']}: {row['state']}{reason}: {said}")
    return 0


def whatif(arguments: argparse.Namespace) -> int:
    """Say what would change."""
    body = {"drain": arguments.drain or [], "cancel": arguments.cancel or []}
    if arguments.policy:
        body["chosen"] = {"policy": whole_name(arguments.policy), "params": dict(map(_setting, arguments.set or []))}
    elif arguments.set:
        raise UsageError("--set: name the policy, too, with --policy")
    if arguments.submit:
        body["submit"] = [supposed(text) for text in arguments.submit]
    if not any(body.values()):
        raise UsageError("say what is to be done: --policy, --drain, --cancel or --submit")
    show_answer(call("POST", "/whatif", body, timeout_s=FORETELLING_S), arguments.format)
    return 0


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text!r:.60}: write PARAM=VALUE")
    name = name.rpartition(".")[2]
    for read in (parse_duration_s, json.loads) if name.endswith("_s") else (json.loads,):
        with suppress(ValueError):
            return name, read(value)
    return name, value


def _order(verb: str) -> Callable[[argparse.Namespace], int]:
    return lambda arguments: _order_each(verb, arguments.jobs)


def _order_each(verb: str, jobs: Sequence[str]) -> int:
    code = 0
    for job in jobs:
        try:
            call("POST", f"/jobs/{quoted(job)}/{verb}")
        except Refused as error:
            print(f"pointsman: {error}", file=sys.stderr)
            code = error.exit_code
    return code


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel jobs by their ids, or those of users and in states."""
    if arguments.me or arguments.user is not None or arguments.states is not None:
        return _order_each("cancel", ids_chosen(call("GET", "/jobs"), arguments))
    if not arguments.jobs:
        raise UsageError("name jobs, or say which: --me, --user, --states")
    return _order_each("cancel", arguments.jobs)


def _node_order(verb: str) -> Callable[[argparse.Namespace], int]:
    def order(arguments: argparse.Namespace) -> int:
        for node in arguments.nodes:
            if not node or "/" in node:
                raise UsageError(f"there is no node {node!r:.60}")
            call("POST", f"/nodes/{quoted(node)}/{verb}", {"reason": getattr(arguments, "reason", "") or ""})
        return 0

    return order


def logs(arguments: argparse.Namespace) -> int:
    """Print a job's output."""
    if arguments.follow:
        _follow(arguments.job)
        return 0
    row = call("GET", f"/jobs/{quoted(arguments.job)}")
    _print_from(_output(row), 0)
    return 0


def _output(row: dict[str, Any]) -> Path:
    if "output" not in row:
        raise UsageError(f"job {row['job_id']} is another user's")
    if not row["output"]:
        raise UsageError(f"Slurm knows where its jobs write: 'scontrol show job {row['job_id']}' prints StdOut")
    return Path(row["output"])


def _follow(id_: int | str) -> dict[str, Any]:
    """Print a job's output as it comes, until the job has ended; what is known of it then."""
    at: dict[Path, int] = {}
    while True:
        row = _patiently(id_)
        if row["attempts"]:
            path = _output(row)
            if path.exists():
                at[path] = _print_from(path, at.get(path, 0))
        if row["state"] in ENDED:
            return row
        time.sleep(POLL_S)


def _patiently(id_: int | str) -> dict[str, Any]:
    """What is known of a job; a daemon that is started anew is waited for."""
    until_s = time.monotonic() + AWAY_S
    while True:
        try:
            return call("GET", f"/jobs/{quoted(str(id_))}")
        except BackendError:
            if time.monotonic() > until_s:
                raise
            time.sleep(POLL_S)


def _print_from(path: Path, offset: int) -> int:
    """Copy a file from there to standard output; how far it goes."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            while data := file.read(1 << 16):
                sys.stdout.buffer.write(data)
                offset += len(data)
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", path=path, fix="has the job begun?") from None
    sys.stdout.flush()
    return offset


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; of a submission, what stands behind ``--`` is the command, or what its script is given."""
    verb, words, command = argv[0], [*argv[1:]], []
    if verb in ("submit", "run") and "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at:]
    if verb == "whatif":  # options of a job are a value, although they look like options
        joined = re.sub(r"(^|\0)--submit\0", r"\1--submit=", "\0".join(words))
        words = joined.split("\0") if joined else []
    arguments = parser(verb).parse_args(words)
    if command:
        script = arguments.command
        arguments.command = [*script, *command[1:]] if script else command
    return arguments


def parser(verb: str) -> argparse.ArgumentParser:
    """The options and arguments of a command."""
    action = ACTIONS[verb]
    made = Parser(prog=f"pointsman {verb}", description=VERBS[verb], allow_abbrev=False)
    if action in (submit, run):
        add_options(made)
        made.add_argument("--parsable", action="store_true", help="print the id alone")
        made.add_argument("command", nargs=argparse.REMAINDER, metavar="SCRIPT | -- COMMAND", help="what to run")
        return made
    if action in (queue, history, nodes, show_job, explain, whatif):
        made.add_argument("--format", choices=("table", "json", "csv"), default="table", help="output format")
    if action in (queue, cancel, history):
        add_users(made)
    if action in (queue, cancel):
        add_states(made)
    if action is queue:
        made.add_argument("--start", action="store_true", help="only pending jobs, with their expected starts")
    if action is history:
        made.add_argument(
            "-n", "--most", type=int, default=100, metavar="N", help="maximum number of jobs (default 100)"
        )
    if action in (show_job, explain, logs):
        made.add_argument("job", metavar="JOB", help="job id")
    if action is logs:
        made.add_argument("-f", "--follow", action="store_true", help="print what comes until the job has ended")
    if verb in ("cancel", "hold", "release", "requeue"):
        made.add_argument("jobs", nargs="*" if action is cancel else "+", metavar="JOB", help="job id")
    if verb in ("drain", "resume"):
        made.add_argument("nodes", nargs="+", metavar="NODE", help="node, or nodes as in n[1-4,7]")
    if action is whatif:
        made.add_argument("--policy", metavar="NAME", help="another policy decides")
        made.add_argument("--set", action="append", metavar="PARAM=VALUE", help="parameter of that policy; repeatable")
        made.add_argument("--drain", action="append", metavar="NODE", help="nodes take no new jobs; repeatable")
        made.add_argument("--cancel", action="append", metavar="JOB", help="a job is cancelled; repeatable")
        made.add_argument("--submit", action="append", metavar="OPTIONS", help="a job comes, as in '-G 8 -t 2h'")
    if verb == "drain":
        made.add_argument("--reason", metavar="TEXT", help="why")
    return made


ACTIONS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "submit": submit,
    "run": run,
    "queue": queue,
    "history": history,
    "nodes": nodes,
    "show": show_job,
    "logs": logs,
    "cancel": cancel,
    "hold": _order("hold"),
    "release": _order("release"),
    "requeue": _order("requeue"),
    "drain": _node_order("drain"),
    "resume": _node_order("resume"),
    "explain": explain,
    "whatif": whatif,
}


def main(argv: Sequence[str]) -> int:
    """Run one of the commands; its exit code."""
    try:
        arguments = _parse(argv)
        return ACTIONS[argv[0]](arguments)
    except PointsmanError as error:
        print(f"pointsman: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("pointsman: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of the output has gone away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
