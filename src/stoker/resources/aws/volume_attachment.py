"""AWS::EC2::VolumeAttachment: a volume attached to an instance."""

from __future__ import annotations

from stoker.resources.base import declare
from stoker.resources.shared.storage.volume_attachments import Attachment


class VolumeAttachment(Attachment):
    """A volume that is attached to an instance."""

    type_name = "AWS::EC2::VolumeAttachment"
    description = "A volume that is attached to an instance."
    server, volume, device = "InstanceId", "VolumeId", "Device"
    properties = {
        "Device": declare.string(
            "Device name in the instance.",
            required=True,
            immutable=True,
            constraints=(declare.pattern("/dev/vd[b-z]"),),
        ),
        "InstanceId": declare.by_name("nova.server", "Instance", required=True, immutable=True),
        "VolumeId": declare.by_name("cinder.volume", "Volume", required=True, immutable=True),
    }
    attributes = {"show": declare.SHOW}
