"""OS::Nova::Server: a server.

A lost create is found by the server's name, which carries the intent token; a server that the
user has named carries the tag ``stoker:<token>`` instead, set by the create call itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.collections import SERVERS
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.resources.base.rest import marker_text, polling_pause
from stoker.resources.nova.server.attributes import live_properties, read_attributes
from stoker.resources.nova.server.changes import apply_changes
from stoker.resources.nova.server.checks import findings
from stoker.resources.nova.server.create import (
    finished,
    request,
    settle,
    takes_deployments,
    user_data,
)
from stoker.resources.nova.server.networks import (
    LeadsFloatingIPs,
    fixed_addresses,
    subnets_needed,
)
from stoker.resources.nova.server.ports import HoldsPorts, claim_ports, delete_own_ports
from stoker.resources.nova.server.power import (
    IMAGE,
    brought_to,
    delete_image,
    is_removed,
    take_image,
)
from stoker.resources.nova.server.properties import ATTRIBUTES, PROPERTIES
from stoker.resources.nova.server.release import reclaim, release
from stoker.resources.nova.server.states import ACTIVE, SUSPENDED, not_active
from stoker.resources.shared import server_software
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

_SERVERS_BY_TAG = replace(SERVERS, microversion="2.26")


class Server(LeadsFloatingIPs, HoldsPorts, ManagedType):
    """A server of the compute service."""

    type_name = "OS::Nova::Server"
    description = "A server with its ports, disks and user data."
    service = "compute"
    physical_name_limit = 53
    names_software = frozenset({"user_data"})
    properties = PROPERTIES
    attributes = ATTRIBUTES
    live = staticmethod(live_properties)
    claim = staticmethod(claim_ports)
    requested_addresses = staticmethod(fixed_addresses)

    def create(self, call: Call) -> Outcome:
        """Credentials and ports first, then the server, then wait until it is active."""
        return request(call) if call.physical_id is None else settle(call)

    def update(self, call: Call) -> Outcome:
        """Change the server in place; properties whose policy says so never come here."""
        outcome = apply_changes(call, lambda: user_data(call))
        return finished(call) if outcome is None else outcome

    def needs_replacement(self, call: Call) -> bool:
        """Return whether a changed flavor, image or user data asks for a new server."""
        policies = ("flavor", "image", "user_data")
        return any(
            name in call.update.changed
            and call.properties.get(f"{name}_update_policy") == "REPLACE"
            for name in policies
        )

    def delete(self, call: Call) -> Outcome:
        """Remove the server, then the ports that were made for it, and its stack user."""
        if not is_removed(call):
            return Wait(
                polling_pause(call), progress={"asked": True}, reason="the server is being deleted"
            )
        delete_own_ports(call)
        if takes_deployments(call.properties):
            server_software.retract(call, call.properties)
        if "user_id" in call.data and call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def find(self, call: Call) -> str | None:
        """The server with the token as its name, or as a tag where the user has named it."""
        return next(iter(_with_token(call)), None)

    def sweep(self, call: Call) -> Sequence[str]:
        """Remove servers that carry the token and are not the one on record; not its ports."""
        surplus = [found for found in _with_token(call) if found != call.physical_id]
        for found in surplus:
            SERVERS.delete(call.cloud, found)
        return surplus

    def read(self, call: Call) -> Mapping[str, Any]:
        """All attributes of the live server."""
        return read_attributes(call)

    def check(self, call: Call) -> Outcome:
        """Return whether the server is active."""
        found = SERVERS.find(call.cloud, call.physical_id or "")
        if found is None:
            return Failed(f"the server {call.physical_id} no longer exists")
        return Done() if found.get("status") == ACTIVE else not_active(found)

    def release(self, call: Call) -> Outcome:
        """Let go of ports, addresses and volumes that a replacement needs."""
        return release(call)

    def reclaim(self, call: Call) -> Outcome:
        """Take them again."""
        return reclaim(call)

    def suspend(self, call: Call) -> Outcome:
        """Suspend the server, and wait until it is."""
        return brought_to(call, SUSPENDED, "suspend")

    def resume(self, call: Call) -> Outcome:
        """Resume the server, and wait until it is active."""
        return brought_to(call, ACTIVE, "resume")

    def snapshot(self, call: Call) -> Outcome:
        """Make an image of the server; its id is kept as ``snapshot_image_id``."""
        return take_image(call)

    def restored(self, properties: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The image of the snapshot in the place of the template's, if it boots from one."""
        image_id = data.get(IMAGE)
        if image_id is None or properties.get("image") is None:
            return properties
        return {**properties, "image": image_id}

    def delete_snapshot(self, call: Call) -> Outcome:
        """Remove the image."""
        return delete_image(call)

    def takes_deployments(self, properties: Mapping[str, Any]) -> bool:
        """Return whether software is deployed to the server."""
        return takes_deployments(properties)

    def publishes(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the server reads its deployments from an object store or a queue."""
        return takes_deployments(properties) and server_software.publishes(properties)

    def publish(self, call: Call) -> None:
        """Put the metadata where the server reads it."""
        server_software.publish(call)

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """What the declarations cannot say."""
        return findings(properties)

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> frozenset[str]:
        """The subnets of the server's networks: its ports take their addresses from them."""
        return subnets_needed(properties.get("networks"), others)


def _with_token(call: Call) -> list[str]:
    """The servers that carry the token, as their name or as a tag."""
    if call.properties.get("name"):
        found = _SERVERS_BY_TAG.select(call.cloud, tags=marker_text(call))
    else:
        found = SERVERS.named(call.cloud, call.physical_name)
    return [str(server["id"]) for server in found]
