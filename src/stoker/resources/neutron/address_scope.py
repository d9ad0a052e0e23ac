"""OS::Neutron::AddressScope: subnet pools whose addresses do not overlap.

Address scopes have neither a description nor tags, so they cannot hold a marker.
"""

from __future__ import annotations

from stoker.clouds.objects.collections import ADDRESS_SCOPES
from stoker.resources.base import declare
from stoker.resources.neutron.declarations import IP_VERSION
from stoker.resources.neutron.sharing import Shareable
from stoker.schema.properties import Finder
from stoker.schema.support import since


class AddressScope(Shareable):
    """An address scope."""

    type_name = "OS::Neutron::AddressScope"
    description = "A scope in which addresses do not overlap."
    service = "network"
    support = since("6.0.0")
    collection = ADDRESS_SCOPES
    marker_field = ""

    properties = {
        "ip_version": IP_VERSION,
        "name": declare.NAME,
        "shared": declare.SHARED,
        "tenant_id": declare.checked(
            "keystone.project",
            "Id of the project that owns the object. For administrators only.",
            finder=Finder("identity", "project"),
        ),
    }
