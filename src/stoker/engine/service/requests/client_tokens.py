"""Requests that a client may repeat: by the token of the first one, the others change nothing."""

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
        """The stack of the request that was recorded with the caller's token; None for a new one.

        Raises AlreadyExistsError where that was another request.
        """
        if caller.client is None:
            return None
        found = await self._ports.store.client_tokens.asked(caller.project_id, caller.client.text)
        if found is None:
            return None
        if found.digest != caller.client.digest:
            raise token_taken(caller.client, found)
        return found.stack
