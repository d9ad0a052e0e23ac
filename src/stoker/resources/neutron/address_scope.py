"""OS::Neutron::AddressScope: subnet pools whose addresses do not overlap.

Address scopes have neither description nor tags: one that the user has named is not found again
after a lost create.
"""

from __future__ import annotations

from stoker.clouds.collections import ADDRESS_SCOPES
from stoker.resources.rest import RestResource
from stoker.schema.constraints import AllowedValues, Custom
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import since


class AddressScope(RestResource):
    """An address scope."""

    type_name = "OS::Neutron::AddressScope"
    description = "A scope in which addresses do not overlap."
    service = "network"
    support = since("6.0.0")
    collection = ADDRESS_SCOPES
    marker = ""

    properties = {
        "ip_version": Property(
            Type.INTEGER,
            "IP version of the subnet.",
            default=4,
            constraints=(AllowedValues([4, 6]),),
        ),
        "name": Property(
            Type.STRING,
            "Name of the object; without one the stack gives it a name.",
            update_allowed=True,
        ),
        "shared": Property(
            Type.BOOLEAN, "Whether all projects may use it.", default=False, update_allowed=True
        ),
        "tenant_id": Property(
            Type.STRING,
            "Id of the project that is to own the object; an administrator's privilege.",
            constraints=(Custom("keystone.project"),),
            finder=Finder("identity", "project"),
        ),
    }
    attributes = {
        "show": Attribute("The object as the service describes it.", type=Type.MAP, cached=False),
    }
