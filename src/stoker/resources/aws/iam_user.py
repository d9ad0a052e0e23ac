"""AWS::IAM::User: a stack user that may only read metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.access import all_allow
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.resource_type.neighbours import Neighbour

_POLICIES = "Policies"


class User(ManagedType):
    """A stack user for keys that agents on servers use."""

    type_name = "AWS::IAM::User"
    description = "A user whose keys let agents in servers read metadata of the stack."
    service = "identity"
    renewed = True
    secrets = frozenset({"password"})
    properties = {
        "Path": declare.string("Without effect."),
        "Groups": declare.sequence("Without effect."),
        "LoginProfile": declare.mapping(
            "Accepted without effect: the user authenticates only with keys.",
            entries={"Password": declare.string("The password.", sensitive=True)},
        ),
        _POLICIES: declare.sequence(
            "Names of resources OS::Heat::AccessPolicy, all of which must allow a resource. "
            "Without any, the user may read all resources of the stack."
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Create the stack user."""
        if call.signalling is None:
            return Failed("this service has no stack users")
        user = call.signalling.create_user(call)
        return Done(physical_id=user["user_id"], data=dict(user))

    def delete(self, call: Call) -> Outcome:
        """Delete the stack user with its keys."""
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def reference(self, call: Call) -> Any:
        """Return the name of the user."""
        return call.data.get("username", call.name)

    def grants(
        self,
        properties: Mapping[str, Any],
        name: str,
        others: Mapping[str, Neighbour],
    ) -> bool:
        """Return whether all policies of the user allow the resource ``name``."""
        return all_allow(properties.get(_POLICIES) or (), name, others)
