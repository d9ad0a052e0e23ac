"""An authenticated request, for its handler."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from starlette.datastructures import QueryParams

from stoker.api.documents import parse_object
from stoker.api.ports import Compute, Engines, Fetching
from stoker.api.rest.faults import bad_request
from stoker.api.rest.links import Links
from stoker.api.rest.settings import RestSettings
from stoker.engine.model.interfaces import Policy
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ForbiddenError
from stoker.kernel.freeing import drop
from stoker.template.describe.catalogue import Catalogue

_JSON_TYPES = ("", "text/plain", "application/json")
# Starts of bodies that are meant to be objects; some clients send a byte order mark first.
_JSON_OBJECT_PREFIXES = (
    b"{", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE,
)  # fmt: skip
NOT_AN_OBJECT = "The request needs a JSON object as its body."


class Api(Struct, frozen=True):
    """Services of the whole application."""

    service: Service
    catalogue: Catalogue
    engines: Engines
    policy: Policy
    settings: RestSettings
    fetching: Fetching
    compute: Compute


class Call(Struct, frozen=True):
    """A request by a known caller to a known route."""

    api: Api
    caller: Caller
    project_id: str  # as in the path
    path: Mapping[str, str]  # variable parts of the path, unquoted
    query: QueryParams
    content_type: str
    body: bytes
    links: Links
    headers: Mapping[str, str] = field(default_factory=dict)
    # Large values of the handler, which are freed in parts after the response.
    held: list[Any] = field(default_factory=list)

    @property
    def service(self) -> Service:
        """Return the engine."""
        return self.api.service

    @property
    def stack(self) -> StackAddress:
        """Return the stack whose full address is in the path."""
        return StackAddress(self.project_id, self.path["stack_name"], self.path["stack_id"])

    async def optional_document(self) -> dict[str, Any] | None:
        """Return the body's JSON object; None for an empty body or other content.

        Raises RequestError (400) for a body that starts like an object and is malformed, and for
        one that is compressed, or in UTF-16: both may be an object that its sender relies on.
        """
        coding = self.headers.get("content-encoding", "identity")
        if self.body and coding.lower() not in ("", "identity"):
            raise bad_request(f"{NOT_AN_OBJECT} It is encoded ({coding:.20}): send it plain.")
        text = self.body.strip()
        if self._kind not in _JSON_TYPES or not text.startswith(_JSON_OBJECT_PREFIXES):
            return None
        value = await parse_object(text, self.api.compute)
        self.held.append(value)
        return value

    async def document(self) -> dict[str, Any]:
        """Return the body's JSON object. Raises RequestError (400) if there is none."""
        value = await self.optional_document()
        if value is None:
            is_other = self.body and self._kind not in _JSON_TYPES
            hint = f" It is sent as {self._kind:.60}: send application/json." if is_other else ""
            raise bad_request(NOT_AN_OBJECT + hint)
        return value

    def release(self) -> None:
        """Free the held values in parts, once the handler has ended."""
        if self.held:
            drop(self.held)

    @property
    def _kind(self) -> str:
        return self.content_type.partition(";")[0].strip().lower()

    def allows(self, rule: str) -> bool:
        """Return whether a policy rule allows the caller."""
        return self.api.policy.allows(rule, self.caller)

    def enforce(self, rule: str) -> None:
        """Raise :class:`ForbiddenError` unless a policy rule allows the caller."""
        if not self.allows(rule):
            raise ForbiddenError(
                f"You are not authorized to use {rule.removeprefix('resource_types:')}."
            )
