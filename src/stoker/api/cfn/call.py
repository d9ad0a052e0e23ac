"""An authenticated request, for its handler."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from stoker.api.cfn.parameters import required
from stoker.api.ports import Compute, FetchObject
from stoker.engine.model.clouds import FetchTemplate
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import Service
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import NotFoundError


class CfnSettings(Struct, frozen=True):
    """Settings of the operator for the API."""

    max_body_size: int  # bytes
    hidden_tags: tuple[str, ...] = ()  # stacks with one of these tags are not listed
    most_stacks: int = -1  # per project; -1 for any number


class Api(Struct, frozen=True):
    """Services of the whole application."""

    service: Service
    settings: CfnSettings
    fetch_template: FetchTemplate
    fetch_object: FetchObject
    compute: Compute


class Call(Struct, frozen=True):
    """A request by a known caller for a known action."""

    api: Api
    caller: Caller
    parameters: Mapping[str, str]

    @property
    def service(self) -> Service:
        """Return the engine."""
        return self.api.service

    async def stack(self) -> StackAddress:
        """Return the stack with ``StackName`` as its name, id or ARN.

        Rejects the request (400) if there is none.
        """
        name = required(self.parameters, "StackName")
        try:
            return await self.service.operations.find(self.caller, name)
        except NotFoundError:
            # Clients compare the whole message to decide whether to create or to update.
            raise NotFoundError(f"Stack with id {name:.300} does not exist") from None
