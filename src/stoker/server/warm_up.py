"""The first requests, made by the process itself when it is ready.

Patterns of paths, statements, threads and functions of the language are prepared on first use. A
preview and a create of a small template use most of them. They record nothing: the transaction of
the create is rolled back, and no trust is created.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import httpx
from starlette.types import ASGIApp

from stoker.engine.model.interfaces import Dispatcher, Ports, PublicChange, Store
from stoker.engine.model.records import Resource, TrustRecord
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service, make_service
from stoker.identity.delegation.trusts import TrustRecords
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.store.opening import OpenStore
from stoker.store.store import SqlStore

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


class RehearsedStore:
    """A store whose commits are rolled back."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, change: PublicChange) -> None:
        """Write a change with a resource, as the driver of a new stack does, and roll it back."""
        row = Resource(_PROJECT, change.stack_id, "a", "OS::Heat::Value", "", 0.0, 0.0)
        await self._store.rehearse(replace(change, puts=(*change.puts, row)))


class NoDelegation:
    """Looks for a trust, and grants nothing."""

    def __init__(self, records: TrustRecords) -> None:
        self._records = records

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """Return no credentials."""
        await self._records.usable_trust(
            TrustRecord("", caller.project_id, caller.user_id, "", tuple(caller.roles))
        )
        return {}

    def forget(self, credentials: Mapping[str, Any]) -> None:
        """Do nothing."""

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Do nothing."""


def rehearsal(ports: Ports, opened: OpenStore, dispatcher: Dispatcher) -> Service:
    """Return a service for :func:`warm_up`. Its requests leave no trace."""
    rehearsed = cast("Store", RehearsedStore(opened.store))
    ports = replace(ports, store=rehearsed, deferred=NoDelegation(opened.trusts))
    return make_service(ports, dispatcher)


async def warm_up(rest: ASGIApp) -> None:
    """Preview and create a small template, on the service of :func:`rehearsal`.

    A failure is logged: it only makes the first request slower.
    """
    try:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(rest), base_url="http://localhost"
        ) as client:
            for path in ("stacks/preview", "stacks"):
                answer = await client.post(f"/v1/{_PROJECT}/{path}", json=_BODY)
                if answer.is_error:
                    log.warning("the warm-up was refused", path=path, status=answer.status_code)
    except Exception:
        log.exception("the warm-up failed")
