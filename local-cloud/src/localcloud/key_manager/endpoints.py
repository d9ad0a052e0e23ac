"""All requests of the key manager's API; this module is loaded when they are first asked for."""

from starlette.routing import BaseRoute

from localcloud.core.work import Work
from localcloud.key_manager.acls import AccessLists
from localcloud.key_manager.consumers import Consumers
from localcloud.key_manager.containers import Containers
from localcloud.key_manager.metadata import Metadata
from localcloud.key_manager.orders import Orders
from localcloud.key_manager.payloads import PayloadCipher
from localcloud.key_manager.quotas import Quotas
from localcloud.key_manager.secrets import Secrets
from localcloud.key_manager.state import State


def routes(state: State, work: Work) -> list[BaseRoute]:
    """Return the routes, and take up orders that the last process left."""
    seal = PayloadCipher(state.cloud.settings.cloud_dir / "secrets.key")
    orders = Orders(state, seal, work)
    orders.resume()
    return [
        *Secrets(state, seal).routes(),
        *Metadata(state).routes(),
        *Containers(state).routes(),
        *orders.routes(),
        *Consumers(state).routes(),
        *AccessLists(state).routes(),
        *Quotas(state).routes(),
    ]
