"""The definition of one method at one address.

The router, the policy, the document of the API and the tables of permissions are made from it.
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
    path: str
    """Below ``/v1/{project_id}``."""
    handler: Handler
    rule: str | None
    """The policy; None: one of ``further``."""
    answer: Any = None
    """The type of the JSON in the answer; None for ``null``, and where an answer has no JSON."""
    status: int = 200
    query: tuple[Parameter, ...] = ()
    body: Any = None
    """The type of the JSON in the request; None for a request that needs none."""
    further: tuple[str, ...] = ()
    """Policies that the handler asks for, depending on what the request says."""
    is_signal: bool = False
    """The body is a signal, which has a limit of its own."""

    @property
    def rules(self) -> tuple[str, ...]:
        """All policies that have a say."""
        return self.further if self.rule is None else (self.rule, *self.further)
