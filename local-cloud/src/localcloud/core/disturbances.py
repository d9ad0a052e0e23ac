"""Makes the cloud slow, forgetful and unwilling on demand, as real clouds are at times.

A list of disturbances says which calls are disturbed, and how; the first that selects a call has
it. An administrator reads and changes the list at ``/disturbances`` while the cloud runs; it is
kept in ``disturbances.json`` of the cloud's directory, which is also where a cloud finds it at
its start. Calls to the list itself are never disturbed. ``docs/guide/howto/disturbances.md`` has
examples.
"""

import asyncio
import json
import random
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http import HTTPStatus
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.core.cloud import Cloud, LazyService
from localcloud.web.http import (
    ApiError,
    BadRequestError,
    ForbiddenError,
    MethodNotAllowedError,
    read_json,
)

PATH = "/disturbances"
# The extension of a scope that cuts the connection; the server process provides it.
CUT = "localcloud.cut"
OUTCOMES = ("answer", "reset", "refuse", "lose", "fail", "garble", "truncate")
_BEFORE_ACTING = frozenset({"reset", "refuse"})
_MOST = 100
_LONGEST = 3600.0
_TEXT_LIMIT = 500
_BODY_LIMIT = 1 << 20
_GARBAGE = b"<html><body>It works!</body></html>"
_STATUSES = frozenset(status.value for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST)


class Disturbance(Struct, frozen=True):
    """The calls that are disturbed, and the kind of disturbance."""

    service: str = ""  # type or name in the catalog; empty: every service
    method: str = ""  # empty: every method
    path: str = "*"  # a pattern of the shell for the path below the root, as `/network/v2.0/ports*`
    body: str = ""  # text that the body contains; a body over 1 MiB counts as empty
    share: float = 1.0  # the part of these calls that is disturbed, by chance
    skip: int = 0  # this many matching calls pass first
    times: int | None = None  # this many calls are disturbed, then no more
    above: int = 0  # only calls are disturbed that arrive while this many others are in progress
    # Seconds until the call acts. This wait and the next end early when the disturbance goes.
    before: float = 0.0
    after: float = 0.0  # seconds from the act to the answer
    # `answer`: the call succeeds. Before the service acts, `reset` cuts the connection and `refuse`
    # responds with the status. After it acted, `lose` cuts the connection, `fail` responds with the
    # status, `garble` sends a body that is no JSON, and `truncate` half of the body.
    outcome: str = "answer"
    status: int = 503  # of `refuse` and `fail`
    retry_after: float | None = None  # seconds in the header Retry-After of `refuse` and `fail`
    message: str = "This call is disturbed."  # of `refuse` and `fail`

    @staticmethod
    def parse(content: Any) -> "Disturbance":
        """Read one from JSON; raises :class:`localcloud.web.http.BadRequestError`."""
        if not isinstance(content, dict):
            raise BadRequestError("A disturbance is a JSON object.")
        known = Disturbance.__struct_fields__
        for name, value in content.items():
            if name not in known:
                raise BadRequestError(f"A disturbance has no '{name}'; it has {', '.join(known)}.")
            if not _is_fit(name, value):
                raise BadRequestError(f"The '{name}' of a disturbance cannot be {value!r:.80}.")
        return Disturbance(**content)


def _is_fit(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if name == "outcome":
        return value in OUTCOMES
    if name == "status":
        return value in _STATUSES
    if name in ("times", "retry_after") and value is None:
        return True
    if name in ("skip", "times", "above"):
        return isinstance(value, int) and value >= 0
    if name == "share":
        return isinstance(value, int | float) and 0 <= value <= 1
    if name in ("before", "after", "retry_after"):
        return isinstance(value, int | float) and 0 <= value <= _LONGEST
    return isinstance(value, str) and len(value) <= _TEXT_LIMIT


@dataclass
class _Active:
    """A disturbance and the calls that it has counted."""

    rule: Disturbance
    seen: int = 0  # calls that it selects
    disturbed: int = 0
    under_way: int = 0  # matching calls in progress
    waiting: int = 0  # calls that it holds back now
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def selects(self, service: LazyService, scope: Scope, body: bytes) -> bool:
        rule = self.rule
        return (
            rule.service in ("", service.type, service.name)
            and rule.method.upper() in ("", scope["method"])
            and fnmatchcase(service.prefix + scope["path"], rule.path)
            and rule.body.encode() in body
        )

    def strikes(self) -> bool:
        """Count a call that is selected; whether it is disturbed."""
        rule = self.rule
        self.seen += 1
        struck = (
            self.seen > rule.skip
            and (rule.times is None or self.disturbed < rule.times)
            and self.under_way >= rule.above
            and random.random() < rule.share
        )
        self.disturbed += struck
        return struck

    async def wait(self, seconds: float) -> None:
        if seconds <= 0:
            return
        self.waiting += 1
        try:
            await asyncio.wait_for(self.gone.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self.waiting -= 1

    def as_data(self) -> dict[str, Any]:
        counts = {"seen": self.seen, "disturbed": self.disturbed}
        return {**asdict(self.rule), **counts, "waiting": self.waiting}


class Disturbances:
    """The disturbances of a cloud, and the layer between its calls and its services."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self.file = cloud.settings.cloud_dir / "disturbances.json"
        self._active = [_Active(rule) for rule in _read(self.file)]

    def __len__(self) -> int:
        return len(self._active)

    async def control(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Return a call to the list: GET shows it, PUT replaces it, DELETE empties it."""
        try:
            answer = await self._controlled(Request(scope, receive))
        except ApiError as error:
            body = {"error": {"code": error.status, "message": error.message}}
            answer = JSONResponse(body, error.status, error.headers)
        await answer(scope, receive, send)

    async def _controlled(self, request: Request) -> Response:
        caller = self._cloud.tokens.validate(request.headers.get("x-auth-token", ""))
        if not caller.is_admin:
            raise ForbiddenError("Only an administrator may disturb the calls of this cloud.")
        if request.method == "PUT":
            self._replace(_rules(await read_json(request)))
        elif request.method == "DELETE":
            self._replace([])
        elif request.method != "GET":
            raise MethodNotAllowedError("The list of disturbances understands GET, PUT and DELETE.")
        return JSONResponse({"disturbances": [active.as_data() for active in self._active]})

    def _replace(self, rules: list[Disturbance]) -> None:
        """Replace the list. Unchanged disturbances keep their counts and calls; others release
        their calls.
        """
        old, self._active = self._active, []
        for rule in rules:
            same = next((active for active in old if active.rule == rule), None)
            if same is not None:
                old.remove(same)
            self._active.append(same or _Active(rule))
        for active in old:
            active.gone.set()
        draft = self.file.with_suffix(".new")
        draft.write_text(json.dumps({"disturbances": [asdict(rule) for rule in rules]}))
        draft.replace(self.file)

    async def call(
        self, app: ASGIApp, service: LazyService, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Return one call through ``app``, which serves the service, as the list says."""
        if not self._active:
            await app(scope, receive, send)
            return
        try:
            body, receive = await _ahead(receive)
        except ClientDisconnect:
            return
        chosen = None
        selected = [active for active in self._active if active.selects(service, scope, body)]
        for active in selected:
            if chosen is None and active.strikes():
                chosen = active
            active.under_way += 1
        try:
            if chosen is None:
                await app(scope, receive, send)
            else:
                await _disturbed(chosen, app, service, scope, receive, send)
        finally:
            for active in selected:
                active.under_way -= 1


async def _disturbed(
    active: _Active, app: ASGIApp, service: LazyService, scope: Scope, receive: Receive, send: Send
) -> None:
    rule = active.rule
    await active.wait(rule.before)
    answer = _Answer()
    if rule.outcome not in _BEFORE_ACTING:
        await app(scope, receive, answer.keep)
    await active.wait(rule.after)
    match rule.outcome:
        case "reset" | "lose":
            await _cut(scope, receive)
        case "refuse" | "fail":
            headers = {} if rule.retry_after is None else {"Retry-After": f"{rule.retry_after:g}"}
            error = ApiError(rule.message, status=rule.status, type="Disturbed", headers=headers)
            await service.render(error, "req-disturbed")(scope, receive, send)
        case "garble":
            await Response(_GARBAGE, answer.status, media_type="text/html")(scope, receive, send)
        case "truncate":
            await answer.pass_half(send)
            await _cut(scope, receive, flush=True)
        case _:
            await answer.pass_on(send)


class _Answer:
    """An answer that is kept back."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    @property
    def status(self) -> int:
        return int(self._messages[0]["status"])

    async def keep(self, message: Message) -> None:
        self._messages.append(message)

    async def pass_on(self, send: Send) -> None:
        for message in self._messages:
            await send(message)

    async def pass_half(self, send: Send) -> None:
        start, *rest = self._messages
        body = b"".join(message.get("body", b"") for message in rest)
        await send(start)
        await send(
            {"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True}
        )


async def _cut(scope: Scope, receive: Receive, *, flush: bool = False) -> None:
    """Close the connection of a call, with a reset unless the sent part must arrive."""
    cut = (scope.get("extensions") or {}).get(CUT)
    if cut is None:
        raise ConnectionResetError("The call is disturbed: its connection is cut.")
    cut(flush=flush)
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ahead(receive: Receive) -> tuple[bytes, Receive]:
    """Read the body, so that a caller who disconnects later does not take it away.

    Returns the body, and a function that passes it to a service. A body that is too long is neither
    awaited nor returned. Raises :class:`ClientDisconnect`.
    """
    read: list[Message] = []
    size = 0
    while not read or (read[-1].get("more_body") and size <= _BODY_LIMIT):
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        read.append(message)
        size += len(message.get("body", b""))
    body = b"".join(message.get("body", b"") for message in read)
    read.reverse()

    async def again() -> Message:
        return read.pop() if read else await receive()

    return (b"" if size > _BODY_LIMIT else body), again


def _rules(content: dict[str, Any]) -> list[Disturbance]:
    items = content.get("disturbances")
    if not isinstance(items, list) or len(items) > _MOST:
        raise BadRequestError(f"The body must have a list 'disturbances' of {_MOST} at most.")
    return [Disturbance.parse(item) for item in items]


def _read(file: Path) -> list[Disturbance]:
    """The list as a file has it; raises OSError for one that cannot be understood."""
    try:
        return _rules(json.loads(file.read_bytes()))
    except FileNotFoundError:
        return []
    except (ApiError, ValueError, AttributeError) as error:
        raise OSError(
            f"{file} is no list of disturbances: {error}. Correct it or remove it."
        ) from error
