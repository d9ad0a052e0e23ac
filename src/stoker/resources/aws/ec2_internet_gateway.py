"""AWS::EC2::InternetGateway: the way out of virtual private clouds, in CloudFormation's words."""

from __future__ import annotations

from stoker.resources.shared.ec2 import TAGS
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class InternetGateway(ManagedType):
    """The way out. It is nothing in itself: its attachment leads to the external network."""

    type_name = "AWS::EC2::InternetGateway"
    service = "network"
    unique = True
    finds_own = True
    description = "The way out of virtual private clouds."

    properties = {"Tags": TAGS}

    def find(self, call: Call) -> str | None:
        """None: a lost create has made nothing."""
        return None

    def create(self, call: Call) -> Outcome:
        """Nothing is made."""
        return Done(call.physical_name)

    def check(self, call: Call) -> Outcome:
        """Nothing can be missing."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Nothing is removed."""
        return Done()
