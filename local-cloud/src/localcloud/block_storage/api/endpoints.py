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
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.service import BlockStorageService
from localcloud.web.api_request import routes_of

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


def routes(service: BlockStorageService) -> list[Route]:
    """Return the routes of all endpoints."""
    return routes_of(Call, ENDPOINTS, service)
