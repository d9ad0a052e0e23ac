"""A server that somebody else has made, which takes software deployments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared import server_software
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.software import TOLD
from stoker.schema.support import deprecated, since


class DeployedServer(ManagedType):
    """Stands for a server: with credentials for the agent on it, and its deployments."""

    type_name = "OS::Heat::DeployedServer"
    description = "A server that exists already, outside of the stack, and takes deployments."
    service = "identity"
    physical_name_limit = 53
    secrets = frozenset({"password", "secret", "os_collect_config"})
    properties = {
        "name": declare.string("Name of the server.", update_allowed=True),
        "metadata": declare.mapping(
            "Metadata of the server.",
            update_allowed=True,
            support=deprecated("9.0.0", was="8.0.0"),
        ),
        "software_config_transport": declare.choice(
            ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"],
            "How the server gets its deployments.",
            default="POLL_SERVER_CFN",
            update_allowed=True,
        ),
        "deployment_swift_data": declare.mapping(
            "Where the deployments are stored for POLL_TEMP_URL.",
            default={},
            update_allowed=True,
            support=since("9.0.0"),
            entries={
                "container": declare.string("Name of the container.", constraints=(Length(min=1),)),
                "object": declare.string("Name of the object.", constraints=(Length(min=1),)),
            },
        ),
    }
    attributes = {
        "name": Attribute("Name of the server.", Type.STRING),
        "os_collect_config": Attribute(
            "What the agent os-collect-config on the server starts from.",
            Type.MAP,
            cached=False,
            support=since("9.0.0"),
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Make credentials for the server."""
        if call.signalling is None:
            return Failed("this service has no endpoint for signals")
        if "user_id" not in call.data:
            return Wait(after=0.0, data={**call.data, **server_software.credentials(call)})
        return _done(call)

    def update(self, call: Call) -> Outcome:
        """Tell the server where it gets its deployments from now on."""
        server_software.retract_moved(call)
        return _done(call)

    def delete(self, call: Call) -> Outcome:
        """Remove the objects that were made for the server; the server stays."""
        server_software.retract(call, call.properties)
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return its name, and the configuration of its agent."""
        name = call.properties["name"] or call.physical_name
        collect = call.data.get(TOLD, {}).get("os-collect-config", {})
        return {"name": name, "os_collect_config": collect}

    def takes_deployments(self, properties: Mapping[str, Any]) -> bool:
        """It does."""
        return True

    def publishes(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the server reads its deployments from an object store or a queue."""
        return server_software.publishes(properties)

    def publish(self, call: Call) -> None:
        """Put the metadata where the server reads it."""
        server_software.publish(call)


def _done(call: Call) -> Done:
    told = server_software.told(call)
    attributes = {
        "name": call.properties["name"] or call.physical_name,
        "os_collect_config": told["os-collect-config"],
    }
    return Done(call.resource_id, attributes, {**call.data, TOLD: told})
