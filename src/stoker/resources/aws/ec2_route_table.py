"""AWS::EC2::RouteTable: a router for subnets of a virtual private cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import ROUTERS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.networks.ec2 import TAGS, table_mark
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class RouteTable(RestResource):
    """A router for subnets of a virtual private cloud."""

    type_name = "AWS::EC2::RouteTable"
    description = "Routes for subnets of a virtual private cloud."
    service = "network"
    support = since("2014.1")
    collection = ROUTERS
    has_name = True
    marker_field = ""

    properties = {
        "Tags": TAGS,
        "VpcId": declare.string("Id of the virtual private cloud.", required=True),
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return a description that names the virtual private cloud."""
        return {"description": table_mark(properties["VpcId"])}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the virtual private cloud from the description."""
        return {"VpcId": str(found.get("description")).removeprefix(table_mark(""))}
