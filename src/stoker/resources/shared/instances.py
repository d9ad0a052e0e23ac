"""Properties of EC2 instances, shared by AWS::EC2::Instance and launch configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.schema.properties import Property

Pairs = list[Mapping[str, str]]

_KEY_AND_VALUE: Mapping[str, Property] = {
    "Key": declare.string("Key.", required=True),
    "Value": declare.string("Value.", required=True),
}
TAGS = declare.records("Tags of the instances.", entries=_KEY_AND_VALUE)
UNUSED = {
    name: declare.string("Not available.", implemented=False) for name in ("KernelId", "RamDiskId")
}
LAUNCH: Mapping[str, Property] = {
    "BlockDeviceMappings": declare.records(
        "Volumes to create for the instance.",
        entries={
            "DeviceName": declare.string("Device name, such as /dev/vdb.", required=True),
            "Ebs": declare.mapping(
                "The volume.",
                entries={
                    "DeleteOnTermination": declare.boolean(
                        "Delete the volume together with the instance.", default=True
                    ),
                    "Iops": declare.number("Not available.", implemented=False),
                    "SnapshotId": declare.checked(
                        "cinder.snapshot", "Snapshot to create the volume from."
                    ),
                    "VolumeSize": declare.string("Size in GiB."),
                    "VolumeType": declare.string("Not available.", implemented=False),
                },
            ),
            "NoDevice": declare.mapping("Not available.", implemented=False),
            "VirtualName": declare.string("Not available.", implemented=False),
        },
    ),
    "KeyName": declare.checked("nova.keypair", "Key pair for SSH access."),
    "NovaSchedulerHints": declare.records("Scheduler hints.", entries=_KEY_AND_VALUE),
    "SecurityGroups": declare.sequence("Security groups, by name or id."),
    "UserData": declare.string("Script or configuration for the first boot."),
    **UNUSED,
}


def by_key(pairs: Pairs | None) -> dict[str, Any]:
    """Return a map of the pairs. Several values of one key become a list."""
    found: dict[str, Any] = {}
    for pair in pairs or ():
        key, value = pair["Key"], pair["Value"]
        if key not in found:
            found[key] = value
        elif isinstance(found[key], list):
            found[key].append(value)
        else:
            found[key] = [found[key], value]
    return found


def volume_findings(properties: Mapping[str, Any]) -> list[Diagnostic]:
    """Return a diagnostic for each block device without a snapshot."""
    return [
        Diagnostic(
            "invalid-server",
            "Ebs with a SnapshotId is required: it is what the volume is made from",
            ("BlockDeviceMappings", index),
        )
        for index, entry in declare.records_in(properties.get("BlockDeviceMappings"))
        if isinstance(device := entry.get("Ebs") or {}, Mapping)
        and device.get("SnapshotId") is None
    ]
