"""AWS::IAM::AccessKey: an EC2 key of a stack user, for signed requests."""

from __future__ import annotations

from stoker.resources.base import declare
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome

_USER, _SECRET = "UserName", "SecretAccessKey"


class AccessKey(ManagedType):
    """An EC2 key of a stack user."""

    type_name = "AWS::IAM::AccessKey"
    description = "A key of a user of this stack."
    service = "identity"
    renewed = True
    secrets = frozenset({_SECRET})
    properties = {
        _USER: declare.string("Name of the user of an AWS::IAM::User resource.", required=True),
        "Serial": declare.integer("Not available.", implemented=False),
        "Status": declare.choice(["Active", "Inactive"], "Not available.", implemented=False),
    }
    attributes = {
        _USER: Attribute("Name of the user.", Type.STRING),
        _SECRET: Attribute(
            "Secret of the key. The reference of the resource is the id of the key.", Type.STRING
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Create the key, or return the one that the user has."""
        if call.signalling is None:
            return Failed("this service has no stack users")
        name = call.properties[_USER]
        user_id = call.signalling.user_id(call, name)
        if user_id is None:
            return Failed(f'no user of this stack is named "{name}"; refer to an AWS::IAM::User')
        pair = call.signalling.create_keypair(call, user_id)
        return Done(physical_id=pair["access"], attributes={_USER: name, _SECRET: pair["secret"]})

    def delete(self, call: Call) -> Outcome:
        """Delete the key."""
        if call.signalling is not None and call.physical_id is not None:
            call.signalling.delete_keypair(call, call.physical_id)
        return Done()
