"""OS::Nova::FloatingIPAssociation: associates a floating IP with a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.renamed_types import superseded
from stoker.resources.neutron.ec2_eip_association import ElasticIpAssociation
from stoker.resources.shared.networks.ec2 import port_of
from stoker.schema.resource_type import Call


class NovaFloatingIPAssociation(ElasticIpAssociation):
    """An association of a floating IP with a server."""

    type_name = "OS::Nova::FloatingIPAssociation"
    description = "Associates a floating IP with a server."
    support = superseded("OS::Neutron::FloatingIPAssociation")

    properties = {
        "floating_ip": declare.string("Id of the floating IP.", required=True, update_allowed=True),
        "server_id": declare.by_name("nova.server", "Server", required=True, update_allowed=True),
    }
    attributes = {"show": declare.SHOW}

    def ends(self, call: Call) -> tuple[str, str]:
        """Return the ids of the floating IP and of the server's port."""
        return self.floating_ip(call), port_of(call.cloud, call.properties["server_id"])

    def floating_ip(self, call: Call) -> str:
        """Return the id of the floating IP."""
        return str(call.properties["floating_ip"])

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Return no findings: both properties are required."""
        return []
