"""Recognizes repeated requests by the token of the client. A repeated request changes nothing."""

from __future__ import annotations

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller
from stoker.engine.service.stack_access.guards import token_taken
from stoker.kernel.addresses import StackAddress


class ClientTokens:
    """Requests with the tokens of clients."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def answered(self, caller: Caller) -> StackAddress | None:
        """Return the stack of the request with the caller's token; None for a new token.

        Raises AlreadyExistsError if the token belongs to a different request.
        """
        if caller.client is None:
            return None
        found = await self._ports.store.request_with_token(caller.project_id, caller.client.text)
        if found is None:
            return None
        if found.digest != caller.client.digest:
            raise token_taken(caller.client, found)
        return found.stack
