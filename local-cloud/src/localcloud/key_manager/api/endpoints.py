"""All requests of the key manager's API."""

from starlette.routing import BaseRoute

from localcloud.key_manager.api.acls import AccessLists
from localcloud.key_manager.api.consumers import Consumers
from localcloud.key_manager.api.containers import Containers
from localcloud.key_manager.api.metadata import Metadata
from localcloud.key_manager.api.orders import Orders
from localcloud.key_manager.api.quotas import Quotas
from localcloud.key_manager.api.secrets import Secrets
from localcloud.key_manager.instance import KeyManager


def routes(key_manager: KeyManager) -> list[BaseRoute]:
    """Return the routes of all requests."""
    state = key_manager.state
    return [
        *Secrets(state, key_manager.cipher).routes(),
        *Metadata(state).routes(),
        *Containers(state).routes(),
        *Orders(state, key_manager.orders).routes(),
        *Consumers(state).routes(),
        *AccessLists(state).routes(),
        *Quotas(state).routes(),
    ]
