"""OS::Nova::Server: a server with its ports, disks and user data.

Methods of this class are called by the engine; each delegates to a module of this package:
``create``, ``changes`` (update), ``power``, ``release``, ``networks`` and ``attributes``.

A lost create is found by the server's name, which contains the intent token. If the user chose the
name, the create request sets the tag ``stoker:<token>`` instead. Ports are created before the
server and deleted after it.

Tested by tests/resource_types_openstack/test_servers.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collections import SERVERS
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
    RequestsOwnAddresses,
    subnets_needed,
)
from stoker.resources.nova.server.ports import (
    HoldsPorts,
    claim_listed_ports,
    claim_ports,
    delete_own_ports,
    quota_use,
)
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
from stoker.resources.shared.signals import server_software
from stoker.schema.resource_type import VALUES, Call, Done, Failed, ManagedType, Outcome, Wait

_SERVERS_BY_TAG = replace(SERVERS, microversion="2.26")


class Server(LeadsFloatingIPs, HoldsPorts, RequestsOwnAddresses, ManagedType):
    """A server with its own ports."""

    type_name = "OS::Nova::Server"
    description = "A server with its ports, disks and user data."
    service = "compute"
    physical_name_limit = 53
    names_software = frozenset({"user_data"})
    properties = PROPERTIES
    attributes = ATTRIBUTES
    early_kind = "server"
    early_attributes = frozenset({"name", "networks", "addresses", "first_address"})
    uses_early = frozenset({VALUES})
    deleted_early = True
    live = staticmethod(live_properties)
    claim = staticmethod(claim_ports)
    quota_use = staticmethod(quota_use)

    def create(self, call: Call) -> Outcome:
        """Create credentials and ports, then the server, and wait until it is active."""
        return request(call) if call.physical_id is None else settle(call)

    def update(self, call: Call) -> Outcome:
        """Change the server in place."""
        outcome = apply_changes(call, lambda: user_data(call))
        return finished(call) if outcome is None else outcome

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the policy for a changed flavor, image or user data is REPLACE."""
        policies = ("flavor", "image", "user_data")
        return any(
            name in call.update.changed
            and call.properties.get(f"{name}_update_policy") == "REPLACE"
            for name in policies
        )

    def delete(self, call: Call) -> Outcome:
        """Delete the server, then its own ports, pushed metadata and stack user."""
        if not call.progress:
            claim_listed_ports(call)
        if not is_removed(call):
            reason = "the server is being deleted"
            pause = polling_pause(call, SERVERS)
            return Wait(pause, progress={"asked": True}, reason=reason, early=True)
        delete_own_ports(call)
        if takes_deployments(call.properties):
            server_software.retract(call, call.properties)
        if "user_id" in call.data and call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the server with the token in its name or tags."""
        return next(iter(_with_token(call)), None)

    def sweep(self, call: Call) -> Sequence[str]:
        """Delete other servers with this token. They share the ports, which stay."""
        surplus = [found for found in _with_token(call) if found != call.physical_id]
        for found in surplus:
            SERVERS.delete(call.cloud, found)
        return surplus

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes of the live server."""
        return read_attributes(call)

    def check(self, call: Call) -> Outcome:
        """Check that the server is active."""
        found = SERVERS.find(call.cloud, call.physical_id or "")
        if found is None:
            return Failed(f"the server {call.physical_id} no longer exists")
        return Done() if found.get("status") == ACTIVE else not_active(found)

    def release(self, call: Call) -> Outcome:
        """Release ports, addresses and volumes for the replacement."""
        return release(call)

    def reclaim(self, call: Call) -> Outcome:
        """Reclaim ports, addresses and volumes after a rollback."""
        return reclaim(call)

    def suspend(self, call: Call) -> Outcome:
        """Suspend the server, and wait until it is suspended."""
        return brought_to(call, SUSPENDED, "suspend")

    def resume(self, call: Call) -> Outcome:
        """Resume the server, and wait until it is active."""
        return brought_to(call, ACTIVE, "resume")

    def snapshot(self, call: Call) -> Outcome:
        """Create an image of the server. Its id is kept as ``snapshot_image_id``."""
        return take_image(call)

    def restored(self, properties: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the properties with the snapshot's image, unless the server boots from a
        volume."""
        image_id = data.get(IMAGE)
        if image_id is None or properties.get("image") is None:
            return properties
        return {**properties, "image": image_id}

    def delete_snapshot(self, call: Call) -> Outcome:
        """Delete the image."""
        return delete_image(call)

    def takes_deployments(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the server can receive software deployments."""
        return takes_deployments(properties)

    def publishes(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the server reads its deployments from an object or a queue."""
        return takes_deployments(properties) and server_software.publishes(properties)

    def publish(self, call: Call) -> None:
        """Push the metadata to the place where the server polls."""
        server_software.publish(call)

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check the combination of properties."""
        return findings(properties)

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> frozenset[str]:
        """Return the subnets of the server's networks, since its ports need their addresses."""
        return subnets_needed(properties.get("networks"), others)


def _with_token(call: Call) -> list[str]:
    """Return the servers with the token in their name or tags."""
    if call.properties.get("name"):
        found = _SERVERS_BY_TAG.select(call.cloud, tags=marker_text(call))
    else:
        found = SERVERS.named(call.cloud, call.physical_name)
    return [str(server["id"]) for server in found]
