"""The parts of the key manager. They load with its first request."""

from localcloud.core.cloud import Cloud
from localcloud.key_manager.jobs import OrderJobs
from localcloud.key_manager.model.payloads import PayloadCipher
from localcloud.key_manager.model.state import State


class KeyManager:
    """The state, the cipher of payloads, and the orders in progress."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)
        self.cipher = PayloadCipher(cloud.settings.cloud_dir / "secrets.key")
        self.orders = OrderJobs(self.state, self.cipher)

    async def stop(self) -> None:
        """End the work on orders; the next process resumes it."""
        await self.orders.stop()


def load(cloud: Cloud) -> KeyManager:
    """Return a key manager that works on the orders which the last process left."""
    key_manager = KeyManager(cloud)
    key_manager.orders.resume()
    return key_manager
