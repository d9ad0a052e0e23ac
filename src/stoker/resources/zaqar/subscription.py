"""OS::Zaqar::Subscription: forwards the messages of a queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.zaqar.subscribers import QUEUE_NAME, TTL, Subscriber
from stoker.schema.support import since

_SCHEMES = ("http:", "https:", "mailto:", "trust+http:", "trust+https:")


class ZaqarSubscription(Subscriber):
    """A subscription."""

    type_name = "OS::Zaqar::Subscription"
    description = "Forwards the messages of a queue."
    support = since("8.0.0")

    properties = {
        "options": declare.mapping("Options of the subscription.", update_allowed=True),
        "queue_name": QUEUE_NAME,
        "subscriber": declare.string(
            "URL that receives the messages: http, https, mailto or trust+http.",
            required=True,
            update_allowed=True,
        ),
        "ttl": TTL,
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the URL has a supported scheme."""
        subscriber = properties.get("subscriber")
        if not isinstance(subscriber, str) or subscriber.startswith(_SCHEMES):
            return []
        message = f"{subscriber!r} does not begin with one of: {', '.join(_SCHEMES)}"
        return [Diagnostic("invalid-subscription", message, ("subscriber",))]
