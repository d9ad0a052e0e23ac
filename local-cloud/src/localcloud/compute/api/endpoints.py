"""All endpoints of the compute API."""

from localcloud.api_request import Endpoint
from localcloud.compute.api import (
    administration,
    aggregates,
    attachments,
    flavors,
    instance_actions,
    keypairs,
    quotas,
    server_actions,
    server_details,
    server_groups,
    servers,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *servers.ENDPOINTS,
    *server_actions.ENDPOINTS,
    *server_details.ENDPOINTS,
    *attachments.ENDPOINTS,
    *instance_actions.ENDPOINTS,
    *server_groups.ENDPOINTS,
    *flavors.ENDPOINTS,
    *keypairs.ENDPOINTS,
    *quotas.ENDPOINTS,
    *administration.ENDPOINTS,
    *aggregates.ENDPOINTS,
)
"""In the order in which paths are tried."""
