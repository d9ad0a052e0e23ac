"""OS::Heat::DeployedServer: an existing server that receives software deployments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.signals import server_software
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.software import POLLING_METADATA
from stoker.schema.support import deprecated, since


class DeployedServer(ManagedType):
    """A server outside of the stack, with credentials and deployments for its agent."""

    type_name = "OS::Heat::DeployedServer"
    description = "An existing server outside of the stack that receives software deployments."
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
            "Transport of deployments to the server.",
            default="POLL_SERVER_CFN",
            update_allowed=True,
        ),
        "deployment_swift_data": declare.mapping(
            "Location of the deployments for POLL_TEMP_URL.",
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
            "Initial configuration for the agent os-collect-config on the server.",
            Type.MAP,
            cached=False,
            support=since("9.0.0"),
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Create credentials for the server's agent."""
        if call.signalling is None:
            return Failed("this service has no endpoint for signals")
        if "user_id" not in call.data:
            return Wait(after=0.0, data={**call.data, **server_software.credentials(call)})
        return _done(call)

    def update(self, call: Call) -> Outcome:
        """Update the place where the server finds its deployments."""
        server_software.retract_moved(call)
        return _done(call)

    def delete(self, call: Call) -> Outcome:
        """Delete the credentials and other objects for the server. The server itself stays."""
        server_software.retract(call, call.properties)
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the name, and the configuration of the agent."""
        name = call.properties["name"] or call.physical_name
        collect = call.data.get(POLLING_METADATA, {}).get("os-collect-config", {})
        return {"name": name, "os_collect_config": collect}

    def takes_deployments(self, properties: Mapping[str, Any]) -> bool:
        """Return True: servers of this type always receive deployments."""
        return True

    def publishes(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the server reads its deployments from an object or a queue."""
        return server_software.publishes(properties)

    def publish(self, call: Call) -> None:
        """Push the metadata to the place where the server polls."""
        server_software.publish(call)


def _done(call: Call) -> Done:
    metadata = server_software.polling_metadata(call)
    attributes = {
        "name": call.properties["name"] or call.physical_name,
        "os_collect_config": metadata["os-collect-config"],
    }
    return Done(call.resource_id, attributes, {**call.data, POLLING_METADATA: metadata})
