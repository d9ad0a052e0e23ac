"""AWS::EC2::Instance: a server.

The properties are translated into those of OS::Nova::Server, and each method calls that type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collections import SERVERS
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.nova.server.properties import PROPERTIES as OF_SERVER
from stoker.resources.nova.server.server import Server
from stoker.resources.shared.instances import LAUNCH, TAGS, by_key, volume_findings
from stoker.schema.properties import Attribute, Finder, Type
from stoker.schema.resource_type import VALUES, Call, ManagedType, Outcome

_SERVER = Server()
_NO_ADDRESS = "0.0.0.0"  # noqa: S104 - the attribute of an instance without an address
# Property that can change in place -> properties of the server that it changes.
_WORDS: Mapping[str, frozenset[str]] = {
    "InstanceType": frozenset({"flavor"}),
    "NetworkInterfaces": frozenset({"networks"}),
    "SubnetId": frozenset({"networks"}),
    "Tags": frozenset({"metadata"}),
}
# Property -> property of the server with the same values.
_LIVE_FIELDS = {
    "AvailabilityZone": "availability_zone",
    "ImageId": "image",
    "InstanceType": "flavor",
    "KeyName": "key_name",
}
_UNAVAILABLE = (
    "DisableApiTermination", "PlacementGroupName", "PrivateIpAddress",
)  # fmt: skip


class Instance(ManagedType):
    """An instance. ``PublicIp`` is its floating IP, or its first address if it has none."""

    type_name = "AWS::EC2::Instance"
    not_importable = "its ports are known from its create only"
    description = "A server of the compute service."
    service = "compute"
    physical_name_limit = 53
    properties = {
        **LAUNCH,
        **{name: declare.string("Not available.", implemented=False) for name in _UNAVAILABLE},
        "AvailabilityZone": declare.string("Availability zone of the instance."),
        "ImageId": declare.by_name("glance.image", "Image", required=True),
        "InstanceType": declare.by_name(
            "nova.flavor", "Flavor", required=True, update_allowed=True
        ),
        "Monitoring": declare.boolean("Not available.", implemented=False),
        "NetworkInterfaces": declare.sequence(
            "Ports of the instance: ids, or maps of NetworkInterfaceId and DeviceIndex.",
            update_allowed=True,
        ),
        "SecurityGroupIds": declare.sequence("Security groups, by id."),
        "SourceDestCheck": declare.boolean("Not available.", implemented=False),
        "SubnetId": declare.string(
            "Subnet in which the instance gets an address.",
            update_allowed=True,
            finder=Finder("network", "subnet"),
        ),
        "Tags": replace(TAGS, update_allowed=True),
        "Tenancy": declare.choice(["dedicated", "default"], "Not available.", implemented=False),
        "Volumes": declare.records(
            "Volumes to attach to the instance.",
            default=[],
            entries={
                "Device": declare.string("Device name, such as /dev/vdc.", required=True),
                "VolumeId": declare.checked("cinder.volume", "The volume.", required=True),
            },
        ),
    }
    early_kind = "server"
    early_attributes = frozenset({"PrivateDnsName", "PrivateIp"})
    uses_early = frozenset({VALUES})
    deleted_early = True
    attributes = {
        "AvailabilityZone": Attribute("Availability zone of the instance.", Type.STRING),
        "PrivateDnsName": Attribute("Fixed address of the instance.", Type.STRING),
        "PrivateIp": Attribute("Fixed address of the instance.", Type.STRING),
        "PublicDnsName": Attribute("Floating IP or first address of the instance.", Type.STRING),
        "PublicIp": Attribute("Floating IP or first address of the instance.", Type.STRING),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Create ports, then the server, and wait until it is active."""
        return _SERVER.create(_of_server(call))

    def update(self, call: Call) -> Outcome:
        """Change flavor, networks and tags in place."""
        return _SERVER.update(_of_server(call))

    def delete(self, call: Call) -> Outcome:
        """Delete the server, then its own ports."""
        return _SERVER.delete(_of_server(call))

    def find(self, call: Call) -> str | None:
        """Return the server with the token in its name."""
        return _SERVER.find(_of_server(call))

    def sweep(self, call: Call) -> Sequence[str]:
        """Delete other servers with this token."""
        return _SERVER.sweep(_of_server(call))

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties of the live server."""
        server = _SERVER.live(_of_server(call))
        if server is None:
            return None
        observed = {own: server[name] for own, name in _LIVE_FIELDS.items() if name in server}
        observed["Tags"] = [{"Key": key, "Value": text} for key, text in server["metadata"].items()]
        if call.properties.get("NetworkInterfaces"):
            observed["NetworkInterfaces"] = _interfaces(call.properties, server["networks"])
        elif call.properties.get("SubnetId"):
            observed["SubnetId"] = next((each.get("subnet") for each in server["networks"]), None)
        return observed

    def check(self, call: Call) -> Outcome:
        """Check that the server is active."""
        return _SERVER.check(call)

    def suspend(self, call: Call) -> Outcome:
        """Suspend the server."""
        return _SERVER.suspend(call)

    def resume(self, call: Call) -> Outcome:
        """Resume the server."""
        return _SERVER.resume(call)

    def release(self, call: Call) -> Outcome:
        """Release ports for the replacement."""
        return _SERVER.release(_of_server(call))

    def reclaim(self, call: Call) -> Outcome:
        """Reclaim ports after a rollback."""
        return _SERVER.reclaim(_of_server(call))

    def snapshot(self, call: Call) -> Outcome:
        """Create an image of the server. Its id is kept as ``snapshot_image_id``."""
        return _SERVER.snapshot(call)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return addresses and zone of the live server."""
        server = SERVERS.get(call.cloud, call.object_id)
        private, public = _addresses(server)
        return {
            "AvailabilityZone": server.get("OS-EXT-AZ:availability_zone"),
            "PrivateDnsName": private,
            "PrivateIp": private,
            "PublicDnsName": public,
            "PublicIp": public,
            "show": server,
        }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that ports have no other security groups, and that volumes have a snapshot."""
        found = []
        for name in ("SecurityGroups", "SecurityGroupIds"):
            if properties.get(name) and properties.get("NetworkInterfaces"):
                message = f"{name} cannot be given together with NetworkInterfaces"
                found.append(Diagnostic("invalid-server", message, (name,)))
        return [*found, *volume_findings(properties)]


def _of_server(call: Call) -> Call:
    """Return the call in the terms of OS::Nova::Server."""
    changed = frozenset[str]().union(*(_WORDS.get(name, ()) for name in call.update.changed))
    previous = call.update.previous
    update = replace(
        call.update, previous=_server(previous) if previous else previous, changed=changed
    )
    return replace(call, properties=_server(call.properties), update=update)


def _server(desired: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of OS::Nova::Server for an instance."""
    groups = [*(desired.get("SecurityGroupIds") or ()), *(desired.get("SecurityGroups") or ())]
    return {
        **{name: declared.default for name, declared in OF_SERVER.items()},
        "availability_zone": desired.get("AvailabilityZone"),
        "block_device_mapping_v2": _devices(desired),
        "flavor": desired.get("InstanceType"),
        "image": desired.get("ImageId"),
        "key_name": desired.get("KeyName"),
        "metadata": by_key(desired.get("Tags")),
        "networks": _networks(desired),
        "scheduler_hints": by_key(desired.get("NovaSchedulerHints")) or None,
        "security_groups": groups,
        "user_data": desired.get("UserData") or "",
    }


def _networks(desired: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the named ports by index, or a port in the subnet; None if Nova is to choose."""
    ports = [
        (int(entry.get("DeviceIndex") or 0), entry.get("NetworkInterfaceId"))
        if isinstance(entry, Mapping)
        else (index, entry)
        for index, entry in enumerate(desired.get("NetworkInterfaces") or ())
    ]
    if ports:
        return [{"port": port} for _, port in sorted(ports, key=lambda each: each[0])]
    return [{"subnet": desired["SubnetId"]}] if desired.get("SubnetId") else None


def _interfaces(desired: Mapping[str, Any], live: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the ports of the server, in the given form if they are equal."""
    ports = [each["port"] for each in live]
    named = [each["port"] for each in _networks(desired) or ()]
    return list(desired["NetworkInterfaces"]) if sorted(ports) == sorted(named) else ports


def _devices(desired: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the block devices: volumes to create, and volumes to attach."""
    created = [
        {
            "device_name": entry["DeviceName"],
            "snapshot_id": entry["Ebs"]["SnapshotId"],
            "volume_size": entry["Ebs"].get("VolumeSize"),
            "delete_on_termination": entry["Ebs"]["DeleteOnTermination"],
            "boot_index": -1,
        }
        for entry in desired.get("BlockDeviceMappings") or ()
    ]
    attached = [
        {
            "device_name": entry["Device"],
            "volume_id": entry["VolumeId"],
            "delete_on_termination": False,
            "boot_index": -1,
        }
        for entry in desired.get("Volumes") or ()
    ]
    return created + attached


def _addresses(server: Mapping[str, Any]) -> tuple[str, str]:
    """Return the first fixed address, and the floating IP if there is one."""
    listed = [item for items in (server.get("addresses") or {}).values() for item in items]
    fixed = [item["addr"] for item in listed if item.get("OS-EXT-IPS:type") != "floating"]
    floating = [item["addr"] for item in listed if item.get("OS-EXT-IPS:type") == "floating"]
    private = next(iter(fixed), _NO_ADDRESS)
    return private, next(iter(floating), private)
