"""OS::Neutron::QoSPolicy: a quality of service policy, to which rules belong."""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import QOS_POLICIES
from stoker.resources.base import declare
from stoker.resources.neutron.sharing import Shareable, without_granted_sharing
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class QoSPolicy(Shareable):
    """A quality of service policy."""

    type_name = "OS::Neutron::QoSPolicy"
    description = "A quality of service policy."
    service = "network"
    extension = "qos"
    support = since("6.0.0")
    collection = QOS_POLICIES
    clear_values = {"description": ""}

    properties = {
        "description": declare.string("Description of the object.", update_allowed=True),
        "name": declare.NAME,
        "shared": declare.SHARED,
        "tenant_id": declare.TENANT_ID,
    }
    attributes = {"rules": Attribute("Rules of the policy.", type=Type.LIST), "show": declare.SHOW}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the fields without sharing by RBAC policies, which is not compared."""
        return without_granted_sharing(call, super().properties_of(call, found))
