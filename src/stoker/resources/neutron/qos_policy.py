"""OS::Neutron::QoSPolicy: a quality of service policy, to which rules are added."""

from __future__ import annotations

from stoker.clouds.collections import QOS_POLICIES
from stoker.resources.rest import RestResource
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.support import since


class QoSPolicy(RestResource):
    """A quality of service policy."""

    type_name = "OS::Neutron::QoSPolicy"
    description = "A quality of service policy."
    service = "network"
    support = since("6.0.0")
    collection = QOS_POLICIES
    blanks = {"description": ""}

    properties = {
        "description": Property(Type.STRING, "Description of the object.", update_allowed=True),
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
        ),
    }
    attributes = {
        "rules": Attribute("Rules of the policy.", type=Type.LIST),
        "show": Attribute("The object as the service describes it.", type=Type.MAP, cached=False),
    }
