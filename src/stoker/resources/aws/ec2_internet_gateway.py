"""AWS::EC2::InternetGateway: a placeholder for the external network."""

from __future__ import annotations

from stoker.resources.shared.networks.ec2 import TAGS
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class InternetGateway(ManagedType):
    """An internet gateway. No object exists for it; its attachment sets gateways of routers."""

    type_name = "AWS::EC2::InternetGateway"
    service = "network"
    unique = True
    finds_own = True
    description = "Connection of virtual private clouds to the external network."

    properties = {"Tags": TAGS}

    def find(self, call: Call) -> str | None:
        """Return None, since no object exists."""
        return None

    def create(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to create."""
        return Done(call.physical_name)

    def check(self, call: Call) -> Outcome:
        """Succeed always."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()
