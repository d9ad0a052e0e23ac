"""OS::Zun::Container: a single container.

Containers have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, Readiness, RestResource, rename_fields
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome, Wait
from stoker.schema.support import since

_CONTAINERS = collection("application-container", "container", id_field="uuid")


def _text(body: Object, name: str) -> str | None:
    return None if body.get(name) is None else str(body[name])


def _nets(networks: Sequence[Mapping[str, Any]]) -> list[Object]:
    return [rename_fields(each, {"fixed_ip": "v4-fixed-ip"}) for each in networks]


def _is_in(net: Mapping[str, Any], addresses: Mapping[str, Any]) -> bool:
    """Return whether the container has an address in the network, or the port."""
    if "port" in net:
        return any(
            each.get("port") == net["port"] for found in addresses.values() for each in found
        )
    return net.get("network") in addresses


def _plug(call: Call) -> None:
    """Detach networks that are not wanted, and attach new ones. A create sends its networks."""
    before = _nets(call.update.previous.get("networks") or ())
    desired = _nets(call.properties.get("networks") or ())
    if not call.update.changed:
        return
    live = _CONTAINERS.get(call.cloud, call.object_id).get("addresses") or {}
    # A repeated request would be refused after a lost response, so compare first.
    gone = [each for each in before if each not in desired and _is_in(each, live)]
    new = [each for each in desired if each not in before and not _is_in(each, live)]
    for action, nets in (("network_detach", gone), ("network_attach", new)):
        for net in nets:
            query = "&".join(f"{name}={value}" for name, value in net.items())
            path = f"{_CONTAINERS.at(call.object_id, f'/{action}')}?{query}"
            _CONTAINERS.ask(call.cloud, "POST", path)


class Container(RestResource):
    """A container."""

    type_name = "OS::Zun::Container"
    description = "A container of the container service."
    service = "application-container"
    support = since("9.0.0")
    collection = _CONTAINERS
    marker_field = ""
    async_delete = True
    readiness = Readiness(pending=frozenset({"Creating", "Created"}), failed=frozenset({"Error"}))
    follow_up_requests = (FollowUpRequest("networks", _plug),)

    properties = {
        "command": declare.string("Command to run in the container."),
        "cpu": declare.number("Number of CPUs.", update_allowed=True),
        "environment": declare.mapping("Environment variables."),
        "hints": declare.mapping("Scheduler hints.", support=since("10.0.0")),
        "hostname": declare.string("Host name of the container.", support=since("10.0.0")),
        "image": declare.string("Name of the image.", required=True),
        "image_driver": declare.choice(["docker", "glance"], "Driver that provides the image."),
        "image_pull_policy": declare.choice(
            ["ifnotpresent", "always", "never"], "When the image is pulled."
        ),
        "interactive": declare.boolean("Keep the standard input open."),
        "labels": declare.mapping("Labels of the container."),
        "memory": declare.integer("MiB of memory.", update_allowed=True),
        "mounts": declare.records(
            "Volumes in the container.",
            entries={
                "mount_path": declare.string("Path of the volume in the container.", required=True),
                "volume_id": declare.by_name("cinder.volume", "Volume"),
                "volume_size": declare.integer("Size of a new volume in GiB."),
            },
        ),
        "name": declare.NAME,
        "networks": declare.records(
            "Networks of the object.",
            update_allowed=True,
            support=since("11.0.0"),
            entries={
                "fixed_ip": declare.checked("ip_addr", "Address in the network."),
                "network": declare.by_name("neutron.network", "Network"),
                "port": declare.by_name("neutron.port", "Port"),
            },
        ),
        "restart_policy": declare.string("Restart policy, such as on-failure 2."),
        "security_groups": declare.sequence(
            "Security groups, by name or id.", default=[], support=since("10.0.0")
        ),
        "tty": declare.boolean("Whether the container has a terminal.", support=since("14.0.0")),
        "workdir": declare.string("Working directory of the command."),
    }
    attributes = {
        "addresses": Attribute("Addresses, by network.", Type.MAP),
        "name": Attribute("Name of the object.", Type.STRING),
        "show": declare.SHOW,
    }

    def creation_body(self, call: Call) -> Object:
        """Return the fields, with the networks, which an update changes separately."""
        body = super().creation_body(call)
        networks = call.properties.get("networks")
        return {**body, "run": True, "nets": _nets(networks)} if networks else {**body, "run": True}

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields in Zun's format."""
        body = super().fields(properties)
        for mount in body.get("mounts") or ():
            if "volume_id" in mount:
                mount["source"] = mount.pop("volume_id")
            if "volume_size" in mount:
                mount["size"] = str(mount.pop("volume_size"))
            mount["destination"] = mount.pop("mount_path")
        policy = body.get("restart_policy")
        if policy is not None:
            name, _, count = policy.partition(":")
            retries = {"MaximumRetryCount": count} if count else {}
            body["restart_policy"] = {"Name": name, **retries}
        return rename_fields({**body, "memory": _text(body, "memory"), "cpu": body.get("cpu")})

    def changed_fields(self, call: Call) -> Object:
        """Return the changed fields: CPUs, memory and name."""
        return {k: v for k, v in super().changed_fields(call).items() if v is not None}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the live properties, in the form in which they were given."""
        observed = {
            name: found.get(name) for name in ("name", "image", "cpu", "labels", "environment")
        }
        memory = found.get("memory")
        return {**observed, "memory": None if memory is None else int(str(memory).rstrip("Mmi"))}

    def delete(self, call: Call) -> Outcome:
        """Stop the container, then delete it."""
        if call.physical_id is None or call.progress:
            return super().delete(call)
        with gone_is_fine():
            path = f"{_CONTAINERS.at(call.physical_id)}?stop=true"
            _CONTAINERS.ask(call.cloud, "DELETE", path)
            return Wait(1.0, progress={"sent": True}, reason="the container is being deleted")
        return Done()

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all containers. Zun cannot filter them by name."""
        return _CONTAINERS.select(call.cloud)
