"""What users of Slurm may see and do: a real one, and what others with accounts answer."""

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from pointsman.errors import PointsmanError
from pointsman.live.backends.slurm.commands import Answer, Commands
from pointsman.live.backends.slurm.reader import Reader
from pointsman.live.backends.slurm.records import Controller
from pointsman.live.backends.slurm.rights import check_may_act, check_may_advise, check_sees_all

from .slurm_cluster import slurm_cluster

NOBODY = 65534
CHECKS = {"look": check_sees_all, "advise": check_may_advise, "act": check_may_act}
SAID = "Current Association Manager state\n\nUser Records\n\nUserName={}({}) DefAccount=a DefWckey= AdminLevel={}\n"
NONE = "Current Association Manager state\n\nNo users currently cached in Slurm.\n\n"
HALF = "scontrol: error: Malformed RPC of type RESPONSE_ASSOC_MGR_INFO(2044) received slurm_load_assoc_mgr_info error"


def faults(environment: dict[str, str], uid: int) -> dict[str, str]:
    """What a process of this user may not do on a Slurm."""
    os.setuid(uid)
    commands = Commands(environment=environment)
    found = {}
    for name, check in CHECKS.items():
        try:
            check(commands, Reader(commands).look().controller)
        except PointsmanError as error:
            found[name] = str(error)
    return found


REMEDY = "run the daemon as SlurmUser (root)"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            "",
            {
                "advise": f"user nobody may not set the nice values of other users' jobs: {REMEDY}",
                "act": f"user nobody may not place other users' jobs: {REMEDY}",
            },
        ),
        (
            "PrivateData=jobs,users\n",
            dict.fromkeys(CHECKS, f"PrivateData=jobs hides what others have from user nobody: {REMEDY}"),
        ),
    ],
)
def test_a_user_looks_and_only_those_with_rights_change(more: str, expected: dict[str, str]) -> None:
    with slurm_cluster(1, more=more) as slurm, ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(faults, slurm.environment, NOBODY).result() == expected
        assert pool.submit(os.getuid).result() == NOBODY
        assert faults(slurm.environment, os.getuid()) == {}


class Told(Commands):
    """Each command prints this."""

    def __init__(self, text: str, errors: str = "") -> None:
        super().__init__()
        self._answer = Answer(int(bool(errors)), text, errors, 0.0)

    def run(self, *command: str) -> Answer:
        return self._answer


@pytest.mark.parametrize(
    ("text", "errors", "may", "line"),
    [
        (SAID.format("nobody", NOBODY, "None"), "", 0, "modify user nobody set"),
        (SAID.format("nobody", NOBODY, "Operator"), "", 2, "modify user nobody set"),
        (SAID.format("nobody", NOBODY, "Administrator"), "", 3, ""),
        (SAID.format("nobody", 7, "Administrator"), "", 0, "add user nobody Account=root"),
        (NONE, "", 0, "add user nobody Account=root"),
        ("", HALF, 0, "add user nobody Account=root"),
    ],
)
def test_accounts_give_rights(text: str, errors: str, may: int, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: NOBODY)
    controller = Controller("22.05.8", 0, 100, private=("jobs", "usage"), has_accounts=True)
    refused = [said for check in CHECKS.values() if (said := fault(check, Told(text, errors), controller))]
    assert len(refused) == len(CHECKS) - may
    levels = ("Operator", "Operator", "Administrator")
    expected = [f"or run 'sacctmgr {line} AdminLevel={level}'" for level in levels[may:]]
    assert all(map(str.__contains__, refused, expected))


@pytest.mark.parametrize(("user", "may"), [("root", 3), ("nobody", 0), ("no-such-user", 0), (7, 0)])
def test_rights_are_those_of_the_user_of_a_token(user: object, may: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: NOBODY)
    payload = urlsafe_b64encode(json.dumps({"exp": 2_000_000_000, "sun": user}).encode()).decode().rstrip("=")
    monkeypatch.setenv("SLURM_JWT", f"head.{payload}.signature")
    controller = Controller("22.05.8", 0, 100, private=("jobs",), has_accounts=True)
    assert [fault(check, Told(NONE), controller) for check in CHECKS.values()].count("") == may


def fault(check: Callable[[Commands, Controller], None], commands: Commands, controller: Controller) -> str:
    try:
        check(commands, controller)
    except PointsmanError as error:
        return str(error)
    return ""
