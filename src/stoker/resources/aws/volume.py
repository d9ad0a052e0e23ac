"""AWS::EC2::Volume: a volume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.base import declare
from stoker.resources.shared.storage.volumes import BACKUP, BlockVolume
from stoker.schema.resource_type import Call

_FROM_BACKUPS = "3.47"


class Volume(BlockVolume):
    """A volume in CloudFormation's form."""

    type_name = "AWS::EC2::Volume"
    description = "A volume that can be attached to instances, and survives them."
    has_name = True
    properties = {
        "AvailabilityZone": declare.string(
            "Availability zone of the volume.", required=True, immutable=True
        ),
        "Size": declare.at_least(1, "Size in GiB.", immutable=True),
        "SnapshotId": declare.by_name(
            "cinder.backup", "Backup to create the volume from", immutable=True
        ),
        "Tags": declare.records(
            "Metadata of the volume.",
            immutable=True,
            entries={
                "Key": declare.string("Key of the entry.", required=True),
                "Value": declare.string("Value of the entry.", required=True),
            },
        ),
    }
    attributes = {"show": declare.SHOW}

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """Return the microversion for volumes from backups, if a backup is given."""
        return _FROM_BACKUPS if properties.get("SnapshotId") else None

    def creation_body(self, call: Call) -> Object:
        """Return the fields, with generated name and description."""
        properties = call.properties
        body: Object = {
            "name": call.physical_name,
            "description": call.physical_name,
            "availability_zone": properties["AvailabilityZone"],
            "metadata": {tag["Key"]: tag["Value"] for tag in properties.get("Tags") or ()},
        }
        fields = (("size", properties.get("Size")), ("backup_id", properties.get("SnapshotId")))
        return body | {name: value for name, value in fields if value is not None}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the live volume."""
        own = {**(found.get("metadata") or {})}
        tags = [tag for tag in call.properties.get("Tags") or () if tag["Key"] in own]
        observed = [{"Key": tag["Key"], "Value": own[tag["Key"]]} for tag in tags]
        return {
            "AvailabilityZone": found.get("availability_zone"),
            "Size": found.get("size"),
            "Tags": observed or None,
        }

    def restored(self, properties: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the properties, with the snapshot's backup as source."""
        backup_id = data.get(BACKUP)
        return properties if backup_id is None else {**properties, "SnapshotId": backup_id}
