"""All requests of the messaging API."""

from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.messaging.api.call import Call, Calls
from localcloud.messaging.api.claims import Claims
from localcloud.messaging.api.messages import Messages
from localcloud.messaging.api.queues import Queues
from localcloud.messaging.api.shares import Shares
from localcloud.messaging.api.subscriptions import Subscriptions
from localcloud.messaging.instance import Messaging
from localcloud.web.http import ForbiddenError


def routes(messaging: Messaging) -> list[BaseRoute]:
    """Return the routes of all requests."""
    state, signatures = messaging.state, messaging.signatures
    calls = Calls(state.cloud, signatures)

    async def ping(call: Call) -> None:
        """Answer: that is all."""

    async def health(call: Call) -> Document:
        if not call.is_admin:
            raise ForbiddenError("You are not authorized to complete this action.")
        messages = list(state.messages.values())
        claimed = sum(map(state.is_claimed, messages))
        volume = {"free": len(messages) - claimed, "claimed": claimed, "total": len(messages)}
        return {
            "catalog_reachable": True,
            "sqlite": {"storage_reachable": True, "message_volume": volume},
        }

    return [
        calls.route("GET", "/v2/ping", ping),
        calls.route("GET", "/v2/health", health),
        *Queues(state).routes(calls),
        *Messages(state, messaging.webhooks).routes(calls),
        *Claims(state).routes(calls),
        *Subscriptions(state).routes(calls),
        *Shares(signatures).routes(calls),
    ]
