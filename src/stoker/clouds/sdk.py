"""Connections of openstacksdk, for plugins. Only this module imports it, and only on demand."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from openstack.connection import Connection

from stoker import __version__
from stoker.clouds.credentials import ServiceAccess

# openstacksdk 4.x warns at each request about a parameter that it passes itself.
warnings.filterwarnings("ignore", message="The 'service_type' parameter is unnecesary")


def connection(
    session: Any, region: str | None, interface: str, services: Mapping[str, ServiceAccess]
) -> Connection:
    """Return a connection that uses a session of keystoneauth. No request is sent yet."""
    return Connection(
        session=session,
        region_name=region,
        interface=interface,
        app_name="stoker",
        app_version=__version__,
        **dict(_options(services)),
    )


def _options(services: Mapping[str, ServiceAccess]) -> Iterator[tuple[str, str]]:
    """Yield openstacksdk's options for the services."""
    for name, own in services.items():
        prefix = name.replace("-", "_")
        if own.region:
            yield f"{prefix}_region_name", own.region
        if own.interface:
            yield f"{prefix}_interface", own.interface
