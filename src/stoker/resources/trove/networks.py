"""Networks of databases in Trove's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.base.rest import rename_fields

_WIRE = {"fixed_ip": "v4-fixed-ip", "network": "net-id", "port": "port-id"}


def nics(networks: Sequence[Mapping[str, Any]] | None) -> list[Object] | None:
    """Return the networks, or None if none are given."""
    return [rename_fields(each, _WIRE) for each in networks] if networks else None
