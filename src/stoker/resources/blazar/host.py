"""OS::Blazar::Host: a compute host that can be reserved.

A host can be added only once, so a lost create is found by its name.
"""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Host(RestResource):
    """A host that can be reserved. For administrators only."""

    type_name = "OS::Blazar::Host"
    description = "A compute host that can be reserved."
    service = "reservation"
    support = since("12.0.0")
    unique = True
    collection = collection("reservation", "host", path="/os-hosts")
    marker_field = ""
    field_names = {"name": "hypervisor_hostname"}

    properties = {
        "extra_capability": declare.mapping("Additional capabilities of the host."),
        "name": declare.string("Name of the host.", required=True),
    }
    attributes = {
        "cpu_info": Attribute("The processor.", Type.MAP),
        "created_at": Attribute("Time of the creation.", Type.STRING),
        "extra_capability": Attribute("Additional capabilities of the host.", Type.MAP),
        "hypervisor_hostname": Attribute("Name of the host.", Type.STRING),
        "hypervisor_type": Attribute("Type of the hypervisor.", Type.STRING),
        "hypervisor_version": Attribute("Version of the hypervisor.", Type.INTEGER),
        "local_gb": Attribute("GiB of disk.", Type.INTEGER),
        "memory_mb": Attribute("MiB of memory.", Type.INTEGER),
        "reservable": Attribute("Whether the host can be reserved.", Type.BOOLEAN),
        "service_name": Attribute("Name of the compute service.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "trust_id": Attribute("Id of the trust.", Type.STRING),
        "updated_at": Attribute("Time of the last change.", Type.STRING),
        "vcpus": Attribute("Number of vCPUs.", Type.INTEGER),
        "show": declare.SHOW,
    }

    def creation_body(self, call: Call) -> Object:
        """Return the name and the additional capabilities."""
        return {"name": call.properties["name"], **(call.properties.get("extra_capability") or {})}

    def candidates(self, call: Call) -> list[Object]:
        """Return the host of that name."""
        listed = self.collection.select(call.cloud)
        return [item for item in listed if item["hypervisor_hostname"] == call.properties["name"]]

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name and the given capabilities."""
        specified = call.properties.get("extra_capability") or {}
        present = {key: found[key] for key in specified if key in found}
        return {"name": found.get("hypervisor_hostname"), "extra_capability": present}
