"""The first request, made by the process itself when it is ready.

Patterns of paths, statements, threads and functions of the language are prepared on first use. A
preview of a small template uses most of them, and records nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
from starlette.types import ASGIApp

from stoker.engine.model.requests import Caller
from stoker.kernel.logs.log import Log

log = Log(__name__)

_PROJECT = "warm-up"
_CALLER = Caller(_PROJECT, "", "warm-up", frozenset(("heat_stack_owner", "member")))
_VALUE = {"str_replace": {"template": "a-b", "params": {"b": {"get_param": "OS::stack_name"}}}}
_BODY: Mapping[str, Any] = {
    "stack_name": "warm-up",
    "template": {
        "heat_template_version": "2018-08-31",
        "resources": {
            "a": {"type": "OS::Heat::Value", "properties": {"value": _VALUE}},
            "b": {"type": "OS::Heat::Value", "properties": {"value": {"get_resource": "a"}}},
        },
        "outputs": {"b": {"value": {"get_attr": ["b", "value"]}}},
    },
}


async def authenticate(headers: Mapping[str, str], project_id: str | None) -> Caller | None:
    """Return the caller of the warm-up, for an application that only :func:`warm_up` uses."""
    return _CALLER


async def warm_up(rest: ASGIApp) -> None:
    """Preview a small template. A failure is logged: it only makes the first request slower."""
    try:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(rest), base_url="http://localhost"
        ) as client:
            answer = await client.post(f"/v1/{_PROJECT}/stacks/preview", json=_BODY)
        if answer.is_error:
            log.warning("the warm-up was refused", status=answer.status_code)
    except Exception:
        log.exception("the warm-up failed")
