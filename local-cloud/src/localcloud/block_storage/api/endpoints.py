"""All requests of the block storage API; literal paths come before those with variables."""

from starlette.routing import Route

from localcloud.block_storage.api import (
    administration,
    attachments,
    backups,
    qos,
    snapshots,
    types,
    volume_actions,
    volumes,
)
from localcloud.block_storage.api.call import endpoint_route
from localcloud.block_storage.service import BlockStorage

ENDPOINTS = (
    *volumes.ENDPOINTS,
    *volume_actions.ENDPOINTS,
    *snapshots.ENDPOINTS,
    *backups.ENDPOINTS,
    *types.ENDPOINTS,
    *qos.ENDPOINTS,
    *attachments.ENDPOINTS,
    *administration.ENDPOINTS,
)


def routes(service: BlockStorage) -> list[Route]:
    """Return the routes of all endpoints; this module is loaded when they are first asked for."""
    return [endpoint_route(endpoint, service) for endpoint in ENDPOINTS]
