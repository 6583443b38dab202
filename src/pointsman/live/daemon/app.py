"""The API of a daemon, ``/api/v1``: what may be asked, by whom, and how errors are said (RFC 9457)."""

import asyncio
import json
import os
import re
from dataclasses import replace
from threading import Lock
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.types import ASGIApp, Receive, Scope, Send

from pointsman.cluster.hostlist import expand
from pointsman.errors import BackendError, InputError, PointsmanError, UsageError
from pointsman.live.control.orders import JobOrder, NodeOrder, Verb
from pointsman.live.daemon.answers import answered
from pointsman.live.daemon.daemon import Daemon, NoSuchJob, TooMany
from pointsman.live.daemon.explanations import Explanations
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.live.daemon.job_ids import JobIds
from pointsman.live.daemon.metrics import exposition
from pointsman.live.daemon.peers import Peer
from pointsman.live.daemon.submission import CONTROLS, Submission
from pointsman.live.daemon.views import Row, Views
from pointsman.live.forecast.whatif import Change
from pointsman.live.world.roster import Deciding
from pointsman.types import NodeState
from pointsman.version import __version__

MOST_BYTES: Final = 1 << 20
"""The most bytes of the body of a request."""
MOST_NAMES: Final = 10_000
"""The most names of nodes in one list, even if they are not there."""
_LONGEST_FORECAST_S: Final = 60.0
"""Whoever asks why a job waits is told that, if a forecast takes longer."""
_USER: Final = r"^[^\x00-\x1f]{1,64}$"
_MAY_HAVE: Final = {
    "name": "letters, digits and _.+:@/=-, at most 64, and no spaces",
    **dict.fromkeys(("account", "queue", "model"), "letters, digits and _.+:@/=-, at most 64"),
    **dict.fromkeys(("output", "error"), "%j, %a, %x and %u, and no other %"),
    "gpu_type": "letters, digits, _.+- and | between alternatives",
}
_STATUS: Final = {NoSuchJob: 404, TooMany: 429, UsageError: 400, InputError: 422, BackendError: 503}


Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
"""What users call a job."""
Nodes = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
"""Names, as Slurm writes lists of them."""


class Forbidden(PointsmanError):
    """Somebody may not do what they asked for."""

    exit_code = 2


class Wanted(BaseModel):
    """What an operator wants of a node."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field("", pattern=f"^[^{CONTROLS}]*$", max_length=200)


class Chosen(BaseModel):
    """Which policy is to decide."""

    model_config = ConfigDict(extra="forbid")

    policy: str = Field(min_length=1, max_length=4096)
    params: dict[str, Any] = {}


class Ending(BaseModel):
    """How a daemon is to end."""

    model_config = ConfigDict(extra="forbid")

    hand_back: bool = False
    """What it has changed of jobs that others run is as it was."""


class Supposed(BaseModel):
    """What is asked about: what if this were done?"""

    model_config = ConfigDict(extra="forbid")

    chosen: Chosen | None = None
    drain: list[Nodes] = Field([], max_length=1_000)
    cancel: list[int | Id] = Field([], max_length=10_000)
    submit: list[Submission] = Field([], max_length=100)


def api(daemon: Daemon, forecaster: Forecaster, operators: frozenset[int]) -> FastAPI:
    """The application; users with `operators`' numbers may do everything."""
    app = FastAPI(title="Pointsman", version=__version__, docs_url=None, redoc_url=None)
    views, ids, one_by_one = Views(daemon), JobIds(daemon), Lock()
    explanations = Explanations(views, ids)
    known_nodes = frozenset(daemon.node_names)
    asking = Annotated[Peer, Depends(_peer)]

    async def number_of(job: Annotated[Id, Path()]) -> int:
        return ids.number_of(job)

    asked = Annotated[int, Depends(number_of)]

    def operator(peer: Peer) -> None:
        if peer.uid not in operators:
            raise Forbidden("only an operator may do that (see 'pointsman live start --operator')")

    def owner(peer: Peer, number: int) -> None:
        job = daemon.loop.jobs.get(number)
        uid = job.uid if job else views.job(number)["uid"]
        if peer.uid not in operators and peer.uid != uid:
            raise Forbidden(f"job {ids.id_of(number)} is another user's")

    @app.get("/healthz")
    async def healthz() -> str:
        return "ok"

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(exposition(views), media_type="text/plain; version=0.0.4")

    @app.post("/api/v1/jobs", status_code=201)
    async def submit(submission: Submission, peer: asking) -> dict[str, int]:
        if submission.priority > 0:
            operator(peer)
        return {"job_id": await daemon.submit(submission, peer.uid)}

    @app.get("/api/v1/jobs")
    async def queue(
        columns: Annotated[str | None, "comma-separated; the answer is then a list of lists"] = None,
    ) -> Response:
        return _list_response(views.queue() if columns is None else views.columns_of_queue(columns.split(",")))

    @app.get("/api/v1/starts")
    async def starts() -> Response:
        return _list_response(explanations.starts(await forecaster.foretold()))

    @app.get("/api/v1/history")
    def history(
        most: Annotated[int, "at most"] = 100, user: Annotated[str | None, Query(pattern=_USER)] = None
    ) -> Response:
        with one_by_one:  # in a thread of its own: it may be long
            return _list_response(views.history(min(max(most, 1), 100_000), user))

    @app.get("/api/v1/jobs/{job}")
    async def show(number: asked, peer: asking) -> Row:
        found = views.job(number)
        mine = peer.uid in operators or peer.uid == found["uid"]
        if mine:
            return found
        found["attempts"] = [one | {"detail": ""} for one in found["attempts"]]
        return {k: v for k, v in found.items() if k not in ("command", "environment", "output", "folder")}

    @app.get("/api/v1/jobs/{job}/explain")
    async def explain(number: asked) -> Row:
        found = explanations.explain(number)
        if found is None:
            ended = views.job(number)
            return {"job_id": ended["job_id"], "state": ended["state"], "reason": "", "said": "it has ended"}
        if found["state"] != "PENDING" or number in daemon.loop.held:
            return found
        try:
            foretold = await asyncio.wait_for(forecaster.foretold(), _LONGEST_FORECAST_S)
            return found | explanations.expected(number, foretold)
        except PointsmanError as error:
            return found | {"expected": str(error)}
        except TimeoutError:
            return found | {"expected": "when it starts is still being worked out: ask again later"}

    @app.post("/api/v1/whatif")
    async def what_if(supposed: Supposed, peer: asking) -> Row:
        return answered(await forecaster.what_if(change(supposed, peer), peer.uid), daemon.loop.jobs, ids.id_of)

    def change(supposed: Supposed, peer: Peer) -> Change:
        chosen = supposed.chosen
        if chosen is not None and peer.uid not in (0, os.getuid()):
            _check_names_no_file(chosen)
        cancelled = {ids.number_of(str(id_)): id_ for id_ in supposed.cancel}
        if gone := [id_ for number, id_ in cancelled.items() if number not in daemon.loop.jobs]:
            raise NoSuchJob(f"there is no job {gone[0]} in the queue")
        return Change(
            deciding(chosen) if chosen else None,
            tuple(daemon.node_names.index(node) for nodes in supposed.drain for node in expand_names(nodes)),
            tuple(cancelled),
            tuple(submission.supposed(peer.uid) for submission in supposed.submit),
        )

    def deciding(chosen: Chosen) -> Deciding:
        return replace(daemon.roster.deciding, policy=chosen.policy, params=chosen.params)

    def expand_names(nodes: str) -> list[str]:
        try:
            names = expand(nodes, max(len(known_nodes), MOST_NAMES))
        except ValueError as error:
            raise UsageError(f"nodes {nodes!r:.60}: {error}") from None
        if unknown := [name for name in names if name not in known_nodes]:
            raise UsageError(f"there is no node {unknown[0]!r:.60}")
        return names

    @app.post("/api/v1/jobs/{job}/{verb}")
    async def order(number: asked, verb: Verb, peer: asking) -> Row:
        owner(peer, number)
        if number not in daemon.loop.jobs:
            raise UsageError(f"job {ids.id_of(number)} has ended")
        wanted = JobOrder(verb, number, peer.uid)
        daemon.check_takes(wanted)
        if verb is Verb.HOLD and daemon.loop.attempt_of(number) is not None:
            raise UsageError(f"job {number} holds GPUs; requeue or cancel it instead")
        if verb is Verb.REQUEUE and daemon.loop.attempt_of(number) is None:
            raise UsageError(f"job {number} is pending")
        await daemon.order(wanted)
        return views.job(number)

    @app.get("/api/v1/nodes")
    async def nodes() -> list[Row]:
        return views.nodes()

    @app.post("/api/v1/nodes/{names}/{verb}")
    async def node(names: Nodes, verb: str, wanted: Wanted, peer: asking) -> list[Row]:
        operator(peer)
        states = {"drain": NodeState.DRAIN, "resume": NodeState.UP}
        if verb not in states:
            raise UsageError(f"nodes can be drained and resumed, not {verb!r:.30}")
        orders = [NodeOrder(name, states[verb], wanted.reason, peer.uid) for name in expand_names(names)]
        await asyncio.gather(*map(daemon.order, orders))  # in one turn
        return [row for row in views.nodes() if row["node"] in {order.node for order in orders}]

    @app.get("/api/v1/status")
    async def status() -> Row:
        return views.status()

    @app.put("/api/v1/policy")
    async def policy(chosen: Chosen, peer: asking) -> Row:
        operator(peer)
        if peer.uid not in (0, os.getuid()):
            _check_names_no_file(chosen)
        await daemon.decide_by(deciding(chosen), peer.uid)
        return views.status()

    @app.post("/api/v1/stop")
    async def stop(ending: Ending, peer: asking) -> Row:
        operator(peer)
        if ending.hand_back:
            await daemon.hand_back()
        daemon.stop()
        return views.status()

    _say_errors(app)
    return app


def _list_response(rows: list[Any]) -> Response:
    """Rows of plain values need no checks, which would take most of the time of ten thousand."""
    return Response(json.dumps(rows), media_type="application/json")


def _check_names_no_file(chosen: Chosen) -> None:
    """That a policy is a built-in one, with numbers as parameters: a file may hold code, which runs as the daemon.

    Raises:
        Forbidden: it is not.
    """
    values = [v for value in chosen.params.values() for v in (value if isinstance(value, list) else [value])]
    if not re.fullmatch(r"[a-z][a-z0-9-]*", chosen.policy) or any(isinstance(v, str | dict | list) for v in values):
        raise Forbidden("only the daemon's own user may choose a policy that is read from a file")


def _peer(request: Request) -> Peer:
    return request.state.peer


def _say_errors(app: FastAPI) -> None:
    app.add_middleware(_Bounded)

    @app.exception_handler(PointsmanError)
    async def ours(_: Request, error: PointsmanError) -> JSONResponse:
        status = 403 if isinstance(error, Forbidden) else next(
            (status for kind, status in _STATUS.items() if isinstance(error, kind)), 500
        )  # fmt: skip
        return _problem(status, str(error), error.exit_code)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        if where in _MAY_HAVE and first["type"] == "string_pattern_mismatch":
            return _problem(400, f"{where} {first['input']!r:.60}: it may have {_MAY_HAVE[where]}", 2)
        return _problem(400, f"{where}: {first['msg']}" if where else str(first["msg"]), 2)


class _Bounded:
    """Requests say how long they are, and are not longer than `MOST_BYTES`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if int(headers.get(b"content-length") or 0) > MOST_BYTES or b"transfer-encoding" in headers:
            refused = _problem(413, f"a request may have {MOST_BYTES:,} bytes, and must say how many it has", 2)
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _problem(status: int, detail: str, exit_code: int) -> JSONResponse:
    content = {"title": detail.split(":")[0][:60], "status": status, "detail": detail, "exit_code": exit_code}
    return JSONResponse(content, status, media_type="application/problem+json")
