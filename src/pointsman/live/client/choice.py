"""Which jobs of a queue are meant, by their users and states."""

import argparse
import os
import pwd
from typing import Any

from pointsman.errors import UsageError
from pointsman.live.client.show import CODES

Row = dict[str, Any]


def add_users(parser: argparse.ArgumentParser) -> None:
    """The options that say whose jobs are meant."""
    parser.add_argument("-u", "--user", metavar="NAME", help="only jobs of this user")
    parser.add_argument("--me", action="store_true", help="only your own jobs")


def add_states(parser: argparse.ArgumentParser) -> None:
    """The option that says in which states they are."""
    parser.add_argument("-t", "--states", metavar="LIST", help="only jobs in these states: PD,R")


def chosen(rows: list[Row], arguments: argparse.Namespace) -> list[Row]:
    """Those that are meant; all, if nothing says which.

    Raises:
        UsageError: there is no such state.
    """
    if "" in (arguments.user, arguments.states):
        raise UsageError("--user and --states want a name, not nothing")
    users = arguments.user.split(",") if arguments.user else []
    users += [own_name()] if arguments.me else []
    if users:
        rows = [row for row in rows if row["user"] in users]
    if arguments.states:
        wanted = {word.upper() for word in arguments.states.split(",")}
        if unknown := wanted - {*CODES, *CODES.values()}:
            raise UsageError(f"--states: there is no state {min(unknown)} (there are {', '.join(CODES)})")
        rows = [row for row in rows if wanted & {row["state"], CODES[row["state"]]}]
    return rows


def own_name() -> str:
    """The name of the user who asks."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def ids_chosen(rows: list[Row], arguments: argparse.Namespace) -> list[str]:
    """The ids of those that are meant, of the jobs that are named if any are; states alone mean one's own jobs.

    Raises:
        UsageError: there is no such state.
    """
    arguments.me |= arguments.user is None and not arguments.jobs
    found = [str(row["job_id"]) for row in chosen(rows, arguments)]
    return [id_ for id_ in found if id_ in arguments.jobs or not arguments.jobs]
