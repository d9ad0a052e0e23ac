"""The parts of the messaging service. They load with its first request."""

from localcloud.core.cloud import Cloud
from localcloud.messaging.jobs import Webhooks
from localcloud.messaging.model.signatures import Signatures
from localcloud.messaging.model.state import State


class Messaging:
    """The state, the signatures of URLs, and the webhooks that run in the background."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)
        self.signatures = Signatures(cloud)
        self.webhooks = Webhooks(self.state)

    async def stop(self) -> None:
        """End the calls of webhooks."""
        await self.webhooks.stop()


def load(cloud: Cloud) -> Messaging:
    """Return the parts."""
    return Messaging(cloud)
