"""Launch configurations: the properties of a group's instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.collections import SERVERS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.instance_groups import COPIED, LAUNCHED
from stoker.resources.shared.instances import LAUNCH, volume_findings
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome

_REQUIRED = ("ImageId", "InstanceType")


class LaunchConfiguration(ManagedType):
    """Keeps the properties of instances; those that are missing are read from a live server.

    Nothing is made in the cloud. It is replaced when anything about it changes, its metadata
    included, so that the groups that refer to it change their instances.
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
            "nova.server", "Server from which image, flavor, key pair and groups are taken"
        ),
        "InstanceType": declare.checked("nova.flavor", "Flavor, by name or id."),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Put the properties on record."""
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
        """A lost create has made nothing."""
        return None

    def delete(self, call: Call) -> Outcome:
        """Nothing is left to remove."""
        return Done()

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Image and flavor are required unless a server is there to take them from."""
        missing = [name for name in _REQUIRED if properties.get(name) is None]
        found = volume_findings(properties)
        if missing and properties.get("InstanceId") is None:
            message = f"without an InstanceId, {' and '.join(missing)} must be given"
            found.append(Diagnostic("missing-property", message))
        return found

    def copied(self, call: Call) -> dict[str, Any]:
        """Return the properties of a live server, as far as an instance has them."""
        server = SERVERS.get(call.cloud, call.properties["InstanceId"])
        groups = [group["name"] for group in server.get("security_groups") or ()]
        values = (
            (server.get("image") or {}).get("id"),
            (server.get("flavor") or {}).get("id"),
            server.get("key_name"),
            list(dict.fromkeys(groups)),
        )
        return {name: value for name, value in zip(COPIED, values, strict=True) if value}
