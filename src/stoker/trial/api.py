"""The REST API for one trusted user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from starlette.types import ASGIApp

from stoker.api.ports import EngineView, Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import RestSettings
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.template.describe.catalogue import Catalogue
from stoker.trial.transport import PROJECT

_CALLER = Caller(PROJECT, "tester", "tester", frozenset(("member", "heat_stack_owner")))
_MAX_BODY_BYTES = 64 * 1024 * 1024


def rest_api(service: Service, ports: Ports, catalogue: Catalogue) -> ASGIApp:
    """Return the application."""
    return build(
        service,
        catalogue,
        _authenticate,
        ports.policy,
        RestSettings(max_json_body_size=_MAX_BODY_BYTES),
        _no_engines,
        Fetching(ports.fetch_template, _no_files),
        ports.workers.compute,
    )


async def _authenticate(headers: Mapping[str, str], project_id: str | None) -> Caller | None:
    return _CALLER


async def _no_engines() -> Sequence[EngineView]:
    return ()


async def _no_files(caller: Caller, container: str, known: Collection[str]) -> Mapping[str, str]:
    return {}
