"""The definition of one method at one address.

The router, the policy, the description of the API and the tables of permissions are derived from
it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from stoker.api.rest.call import Call
from stoker.api.rest.requests.parameters import Parameter

Handler = Callable[[Call], Awaitable[Response]]


class Operation(Struct, frozen=True):
    """A method at an address, with its handler."""

    method: str
    path: str  # below ``/v1/{project_id}``
    handler: Handler
    rule: str | None  # the policy; None: one of ``further``
    # Type of the JSON in the response; None for ``null``, and for a response without JSON.
    answer: Any = None
    status: int = 200
    query: tuple[Parameter, ...] = ()
    body: Any = None  # type of the JSON in the request; None for a request that needs none
    further: tuple[str, ...] = ()  # policies that the handler checks, depending on the request
    is_signal: bool = False  # whether the body is a signal, which has its own limit

    @property
    def rules(self) -> tuple[str, ...]:
        """Return all policies that apply."""
        return self.further if self.rule is None else (self.rule, *self.further)
