"""AWS::AutoScaling::LaunchConfiguration: the properties of a group's instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collections import SERVERS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.groups.instance_groups import COPIED, LAUNCHED
from stoker.resources.shared.instances import LAUNCH, volume_findings
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome

_REQUIRED = ("ImageId", "InstanceType")


class LaunchConfiguration(ManagedType):
    """Properties of instances; missing ones are copied from a server.

    No object exists in the cloud. Any change replaces the resource, even one of its metadata, so
    that the groups that refer to it update their instances.
    """

    type_name = "AWS::AutoScaling::LaunchConfiguration"
    description = "The properties of the instances of a group."
    service = "compute"
    unique = True
    finds_own = True
    fixed_metadata = True
    properties = {
        **LAUNCH,
        "ImageId": declare.checked("glance.image", "Image, by name or id."),
        "InstanceId": declare.by_name(
            "nova.server", "Server to copy image, flavor, key pair and security groups from"
        ),
        "InstanceType": declare.checked("nova.flavor", "Flavor, by name or id."),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Record the properties."""
        own = {
            name: value
            for name, value in call.properties.items()
            if name != "InstanceId" and value is not None
        }
        copied = self.copied(call) if call.properties["InstanceId"] else {}
        return Done(call.physical_name, data={LAUNCHED: {**copied, **own}})

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the properties of instances; unknown ones are None."""
        return {"show": {**dict.fromkeys(COPIED), **call.data[LAUNCHED]}}

    def find(self, call: Call) -> str | None:
        """Return None, since no object exists."""
        return None

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that image and flavor are given, unless there is a server to copy from."""
        missing = [name for name in _REQUIRED if properties.get(name) is None]
        found = volume_findings(properties)
        if missing and properties.get("InstanceId") is None:
            message = f"without an InstanceId, {' and '.join(missing)} must be given"
            found.append(Diagnostic("missing-property", message))
        return found

    def copied(self, call: Call) -> dict[str, Any]:
        """Return the properties of a server that instances have, too."""
        server = SERVERS.get(call.cloud, call.properties["InstanceId"])
        groups = [group["name"] for group in server.get("security_groups") or ()]
        values = (
            (server.get("image") or {}).get("id"),
            (server.get("flavor") or {}).get("id"),
            server.get("key_name"),
            list(dict.fromkeys(groups)),
        )
        return {name: value for name, value in zip(COPIED, values, strict=True) if value}
