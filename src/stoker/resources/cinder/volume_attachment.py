"""OS::Cinder::VolumeAttachment: a volume attached to a server."""

from __future__ import annotations

from stoker.resources.base import declare
from stoker.resources.shared.storage.volume_attachments import Attachment
from stoker.schema.properties import Interruption

_MOVED = Interruption("the volume is detached and reattached")


class CinderVolumeAttachment(Attachment):
    """A volume that is attached to a server. An update moves it."""

    type_name = "OS::Cinder::VolumeAttachment"
    description = "A volume that is attached to a server."
    server, volume, device = "instance_uuid", "volume_id", "mountpoint"
    properties = {
        "instance_uuid": declare.string(
            "Id of the server.", required=True, update_allowed=True, interruption=_MOVED
        ),
        "mountpoint": declare.string(
            "Device name in the server; the server may choose another one.",
            update_allowed=True,
            interruption=_MOVED,
        ),
        "volume_id": declare.by_name(
            "cinder.volume", "Volume", required=True, update_allowed=True, interruption=_MOVED
        ),
    }
    attributes = {"show": declare.SHOW}
