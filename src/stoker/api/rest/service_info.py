"""What the service says about itself."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from stoker.api.ports import EngineView
from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Call
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import HTTP_UNAVAILABLE, Refused

_ENGINE = {"binary": "heat-engine", "topic": "engine", "report_interval": 60}
"""Of every engine. Clients expect reports at such intervals; here each engine is asked itself."""


async def build_info(call: Call) -> Response:
    """The revisions of interface and engine, which are always the same here."""
    revision = {"revision": call.api.settings.revision}
    return json_response({"api": revision, "engine": revision})


async def index(call: Call) -> Response:
    """The engine processes; having none is an error (503)."""
    engines = await call.api.engines()
    if not engines:
        raise Refused("No engine has reported lately.", HTTP_UNAVAILABLE)
    return json_response({"services": [_shown(engine) for engine in engines]})


def _shown(engine: EngineView) -> dict[str, Any]:
    return {
        "id": engine.id,
        "engine_id": engine.engine_id,
        "host": engine.host,
        "hostname": engine.host,
        "created_at": isoformat(engine.created_at),
        "updated_at": isoformat(engine.updated_at),
        "deleted_at": None,
        "status": "up" if engine.up else "down",
        **_ENGINE,
    }
