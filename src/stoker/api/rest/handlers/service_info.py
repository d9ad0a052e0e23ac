"""Information about the service."""

from __future__ import annotations

from typing import TypedDict

from starlette.responses import Response

from stoker.api.ports import EngineView
from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Call
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import HTTP_UNAVAILABLE, RequestError

# Seconds. Clients expect reports at such intervals; here each engine is queried directly.
_REPORT_INTERVAL = 60


class Revision(TypedDict):
    """The revision of a part of the service."""

    revision: str


class BuildInfo(TypedDict):
    """Revisions of the parts of the service."""

    api: Revision
    engine: Revision


class EngineRow(TypedDict):
    """An engine process."""

    id: str
    engine_id: str
    host: str
    hostname: str
    binary: str
    topic: str
    report_interval: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    status: str


class EngineList(TypedDict):
    """All engine processes."""

    services: list[EngineRow]


async def build_info(call: Call) -> Response:
    """Show the revisions of interface and engine, which are always the same here."""
    revision: Revision = {"revision": call.api.settings.revision}
    answer: BuildInfo = {"api": revision, "engine": revision}
    return json_response(answer)


async def index(call: Call) -> Response:
    """List the engine processes; an error (503) if there are none."""
    engines = await call.api.engines()
    if not engines:
        raise RequestError("No engine has reported lately.", HTTP_UNAVAILABLE)
    return json_response({"services": [_shown(engine) for engine in engines]})


def _shown(engine: EngineView) -> EngineRow:
    return {
        "id": engine.id,
        "engine_id": engine.engine_id,
        "host": engine.host,
        "hostname": engine.host,
        "created_at": isoformat(engine.created_at),
        "updated_at": isoformat(engine.updated_at),
        "deleted_at": None,
        "binary": "heat-engine",
        "topic": "engine",
        "report_interval": _REPORT_INTERVAL,
        "status": "up" if engine.up else "down",
    }
