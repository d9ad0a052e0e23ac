"""AWS::EC2::NetworkInterface: a port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import PORTS, SUBNETS
from stoker.clouds.objects.security_groups import group_ids, named_groups
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource, rename_fields
from stoker.resources.shared.networks.ec2 import TAGS
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call


class NetworkInterface(RestResource):
    """A port of a subnet."""

    type_name = "AWS::EC2::NetworkInterface"
    description = "A network interface that an instance can use."
    service = "network"
    collection = PORTS
    has_name = True
    marker_field = ""

    properties = {
        "Description": declare.string("Description of the interface."),
        "GroupSet": declare.sequence("Security groups, by name or id.", update_allowed=True),
        "PrivateIpAddress": declare.string("Address of the interface."),
        "SourceDestCheck": declare.boolean("Not available.", implemented=False),
        "SubnetId": declare.by_name("neutron.subnet", "Subnet", required=True),
        "Tags": TAGS,
    }
    attributes = {
        "PrivateIpAddress": Attribute("Address of the interface.", Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the address and the description."""
        address = {"ip_address": properties.get("PrivateIpAddress")}
        fixed_ip = rename_fields({"subnet_id": properties.get("SubnetId"), **address})
        own = {"fixed_ips": [fixed_ip] if fixed_ip else None}
        return rename_fields({**own, "description": properties.get("Description")})

    def creation_body(self, call: Call) -> Object:
        """Return the fields, with the subnet's network and the ids of the groups."""
        body = super().creation_body(call)
        body["network_id"] = SUBNETS.get(call.cloud, call.properties["SubnetId"])["network_id"]
        groups = call.properties.get("GroupSet")
        if groups is not None:
            body["security_groups"] = group_ids(call.cloud, groups)
        return body

    def changed_fields(self, call: Call) -> Object:
        """Return the groups, or the project's default group if none are given any more."""
        groups = call.properties.get("GroupSet")
        return {"security_groups": group_ids(call.cloud, groups or ["default"])}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties; the address only if one was given."""
        fixed = (found.get("fixed_ips") or [{}])[0]
        groups = call.properties.get("GroupSet")
        observed = {
            "SubnetId": fixed.get("subnet_id"),
            "PrivateIpAddress": fixed.get("ip_address"),
            "Description": found.get("description"),
        }
        if groups is not None:
            observed["GroupSet"] = named_groups(call.cloud, groups, found["security_groups"])
        return observed

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the address."""
        fixed = found.get("fixed_ips") or [{}]
        return {"PrivateIpAddress": fixed[0].get("ip_address")}
