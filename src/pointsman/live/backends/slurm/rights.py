"""What this process's user may do with Slurm, and see of it, by what its controller says."""

import json
import os
import pwd
import re
from base64 import urlsafe_b64decode
from enum import IntEnum
from typing import Final

from pointsman.errors import UsageError
from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.commands import Commands
from pointsman.live.backends.slurm.records import Controller

HIDING: Final = ("jobs", "nodes", "partitions", "all")
"""Words of PrivateData by which users do not see everything."""
_HALF: Final = "malformed rpc of type response_assoc_mgr_info"
_USER: Final = re.compile(r"^UserName=\S*\((\d+)\).* AdminLevel=(\w+)", re.M)


class Level(IntEnum):
    """AdminLevel of a user."""

    NONE = 0
    OPERATOR = 1
    """Sees everything, and sets all nice values."""
    ADMINISTRATOR = 2
    """May do all that SlurmUser may."""


def check_sees_all(commands: Commands, controller: Controller) -> None:
    """A user who sees a part of a cluster would take it for all.

    Raises:
        UsageError: PrivateData hides jobs, nodes or partitions of others. Unsure: no answer.
    """
    if hidden := {*controller.private} & {*HIDING}:
        words = ",".join(word for word in controller.private if word in hidden)
        _check(commands, controller, Level.OPERATOR, f"PrivateData={words} hides what others have from user {{}}")


def check_may_advise(commands: Commands, controller: Controller) -> None:
    """Nice values may become negative, and are those of other users' jobs.

    Raises:
        UsageError: this user may not set them. Unsure: no answer.
    """
    _check(commands, controller, Level.OPERATOR, "user {} may not set the nice values of other users' jobs")


def check_may_act(commands: Commands, controller: Controller) -> None:
    """Jobs of others are moved, marked and requeued.

    Raises:
        UsageError: this user may not do so. Unsure: no answer.
    """
    _check(commands, controller, Level.ADMINISTRATOR, "user {} may not place other users' jobs")


def _check(commands: Commands, controller: Controller, needed: Level, fault: str) -> None:
    uid = _uid(commands.token)
    if uid in (0, controller.slurm_uid):
        return
    name = _name_of(uid)
    found = {int(one): level for one, level in _USER.findall(_ask(commands, name))} if controller.has_accounts else {}
    if _level(found.get(uid, "")) >= needed:
        return
    user = f"modify user {name} set" if uid in found else f"add user {name} Account=root"
    grant = f", or run 'sacctmgr {user} AdminLevel={needed.name.title()}'" if controller.has_accounts else ""
    raise UsageError(f"{fault.format(name)}: run the daemon as SlurmUser ({_name_of(controller.slurm_uid)}){grant}")


def _uid(token: str) -> int:
    """For whom Slurm takes its commands: the user of a token of SLURM_JWT, if there is one, or that of this process."""
    try:
        payload = token.split(".")[1]
        return pwd.getpwnam(json.loads(urlsafe_b64decode(f"{payload}=="))["sun"]).pw_uid
    except (LookupError, TypeError, ValueError):  # no token, or one of which Slurm will say what is wrong
        return os.getuid()


def _ask(commands: Commands, name: str) -> str:
    """What the controller knows of a user; of one that it does not know, 22.05 sends half an answer if PrivateData has
    ``users``.
    """
    answer = commands.run("scontrol", "--local", "show", "assoc_mgr", "flags=users", f"users={name}")
    if answer.code != 0 and _HALF not in answer.errors.casefold():
        raise Unsure(f"scontrol show assoc_mgr failed with {answer.code}: {answer.errors:.200}")
    return answer.text


def _level(word: str) -> Level:
    """Slurm's word: ``None``, ``Operator`` or ``Administrator``."""
    return Level[word.upper()] if word.upper() in Level.__members__ else Level.NONE


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
