"""One authenticated request, as the functions that answer it see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from starlette.datastructures import QueryParams

from stoker.api.ports import Catalogue, Compute, Engines, Policy
from stoker.api.rest.faults import bad_request
from stoker.api.rest.links import Links
from stoker.api.rest.settings import RestSettings
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.kernel import long_json
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import Forbidden

_FEW_BYTES = 16 * 1024
"""That are read on the event loop, within a millisecond."""
_JSON_TYPES = ("", "text/plain", "application/json")
NOT_AN_OBJECT = "The request needs a JSON object as its body."


class FetchTemplate(Protocol):
    """Fetches the text behind a ``template_url``."""

    async def __call__(self, url: str) -> str:
        """The text; raises :class:`stoker.kernel.errors.Refused` (400) when it cannot be had."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _read(content: bytes) -> dict[str, Any]:
    """The object that a body is; raises ValueError where it is no JSON, or no Unicode text."""
    value: dict[str, Any] = long_json.read(content.decode(), _refuse_constant)
    if b"\\ud" in content or b"\\uD" in content:
        for piece in long_json.pieces(value, partial(json.dumps, ensure_ascii=False)):
            piece.encode()
    return value


@dataclass(frozen=True, slots=True)
class Api:
    """What the application as a whole has at hand."""

    service: Service
    catalogue: Catalogue
    engines: Engines
    policy: Policy
    settings: RestSettings
    fetch_template: FetchTemplate
    compute: Compute


@dataclass(frozen=True, slots=True)
class Call:
    """A request by a known caller to a known route."""

    api: Api
    caller: Caller
    project_id: str
    """As the path names it."""
    path: Mapping[str, str]
    """The variable parts of the path, unquoted."""
    query: QueryParams
    content_type: str
    body: bytes
    links: Links

    @property
    def service(self) -> Service:
        """The engine."""
        return self.api.service

    @property
    def stack(self) -> StackAddress:
        """The stack that the path names in full."""
        return StackAddress(self.project_id, self.path["stack_name"], self.path["stack_id"])

    async def optional_document(self) -> dict[str, Any] | None:
        """The body's JSON object; None where the body is empty or something else.

        Raises a refusal (400) for a body that starts like an object and is none.
        """
        kind = self.content_type.partition(";")[0].strip().lower()
        text = self.body.strip()
        if kind not in _JSON_TYPES or not text.startswith(b"{"):
            return None
        try:
            if len(text) <= _FEW_BYTES:
                return _read(text)
            return await self.api.compute(lambda: _read(text))
        except RecursionError:
            raise bad_request("The JSON of the body is nested too deeply.") from None
        except UnicodeError:
            raise bad_request("The body holds characters that are no Unicode text.") from None
        except ValueError as error:
            raise bad_request(f"The body is not valid JSON: {error}.") from None

    async def document(self) -> dict[str, Any]:
        """The body's JSON object; raises a refusal (400) where there is none."""
        value = await self.optional_document()
        if value is None:
            raise bad_request(NOT_AN_OBJECT)
        return value

    def allows(self, rule: str) -> bool:
        """Whether a policy rule lets the caller through."""
        return self.api.policy.allows(rule, self.caller)

    def enforce(self, rule: str) -> None:
        """Raise :class:`Forbidden` unless a policy rule lets the caller through."""
        if not self.allows(rule):
            raise Forbidden(
                f"You are not authorized to use {rule.removeprefix('resource_types:')}."
            )
