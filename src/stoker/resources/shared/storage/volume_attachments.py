"""Base of the volume attachment types, OpenStack's and AWS's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.clouds.faults import CloudError, is_not_found
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SERVERS, VOLUMES
from stoker.resources.base.rest import poll_object, polling_pause
from stoker.resources.shared.storage.volumes import READINESS, detach_from
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

_REFUSED = 400
_ON_ITS_WAY = frozenset({"attaching", "reserved"})
_ASKED = "asked"  # Key of the progress: the service was asked to detach the volume.
_BUSY_SECONDS = 120.0  # wait at most this long for a volume that is being detached elsewhere


class Attachment(ManagedType):
    """A volume attached to a server. The physical id is the volume's, as in Nova."""

    service = "compute"
    unique = True
    link = "volume attachment"
    id_form = "VOLUME"
    server: ClassVar[str]
    volume: ClassVar[str]
    device: ClassVar[str]  # These are names of properties.

    def identity(self, physical_id: str, properties: Mapping[str, Any]) -> str:
        """Return server and volume, since some volumes can be attached to several servers."""
        return f"{properties.get(self.server)}:{physical_id}"

    def create(self, call: Call) -> Outcome:
        """Attach the volume, and wait until it is attached.

        Before the first request, :meth:`find` has shown that the server does not have the volume.
        """
        server, volume_id = self._desired(call)
        if call.physical_id is None:
            return self._ask(call, server, volume_id)
        volume = poll_object(call, VOLUMES)
        if _has(volume, server):
            return Done(volume_id)
        if volume is not None and volume.get("status") in _ON_ITS_WAY:
            pause = polling_pause(call, VOLUMES)
            return Wait(pause, reason=f"the volume is {volume['status']}")
        return self._attach(call)

    def update(self, call: Call) -> Outcome:
        """Detach the previous volume, then attach the desired one."""
        before = call.update.previous
        if not call.progress.get("detached"):
            outcome = _let_go(call, str(before[self.server]), str(before[self.volume]))
            if outcome is not None:
                return outcome
            return Wait(after=0.0, progress={"detached": True})
        return self._attach(call)

    def delete(self, call: Call) -> Outcome:
        """Detach the volume, and wait until it is detached."""
        if call.physical_id is None:
            return Done()
        server, volume = str(call.properties[self.server]), call.physical_id
        return _let_go(call, server, volume) or Done()

    def find(self, call: Call) -> str | None:
        """Return the attachment, if the server has the volume."""
        server, volume = self._desired(call)
        return volume if _attachment(call, server, volume) is not None else None

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the attachment as Nova reports it."""
        server, volume = self._desired(call)
        return {"show": _attachment(call, server, volume) or {}}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return server and volume; None if the volume is not attached to this server."""
        server, _ = self._desired(call)
        found = _attachment(call, server, call.object_id)
        if found is None:
            return None
        return {self.server: server, self.volume: found["volumeId"]}

    def check(self, call: Call) -> Outcome:
        """Check that the volume is still attached."""
        server, _ = self._desired(call)
        volume = call.physical_id or ""
        if not volume or _attachment(call, server, volume) is None:
            return Failed(f"the volume {volume} is no longer attached to server {server}")
        return Done()

    def _desired(self, call: Call) -> tuple[str, str]:
        return str(call.properties[self.server]), str(call.properties[self.volume])

    def _attach(self, call: Call) -> Outcome:
        server, volume_id = self._desired(call)
        if _attachment(call, server, volume_id) is None:
            return self._ask(call, server, volume_id)
        volume = VOLUMES.get(call.cloud, volume_id)
        status = str(volume.get("status"))
        if status in READINESS.failed:
            return Failed(f"the volume {volume_id} is {status}", volume_id)
        if not _has(volume, server):
            reason = f"the volume is {status}"
            return Wait(polling_pause(call), physical_id=volume_id, reason=reason)
        return Done(volume_id)

    def _ask(self, call: Call, server: str, volume_id: str) -> Outcome:
        body: Object = {"volumeId": volume_id}
        if call.properties.get(self.device):
            body["device"] = call.properties[self.device]
        path = SERVERS.at(server, "/os-volume_attachments")
        try:
            SERVERS.ask(call.cloud, "POST", path, json={"volumeAttachment": body})
        except CloudError as fault:
            passes = fault.status_code == _REFUSED and _comes_free(call, volume_id)
            if not passes or call.now - call.started_at > _BUSY_SECONDS:
                raise
            return Wait(polling_pause(call), reason=fault.message)
        pause = polling_pause(call, VOLUMES)
        return Wait(pause, physical_id=volume_id, reason="the volume is attached")


def _comes_free(call: Call, volume_id: str) -> bool:
    """Return whether the volume changes its state now, so that it may soon be attachable."""
    volume = VOLUMES.find(call.cloud, volume_id)
    return volume is not None and volume.get("status") in READINESS.pending


def _let_go(call: Call, server: str, volume_id: str) -> Outcome | None:
    """Detach a volume; None once it is detached. ``volume_id`` is the physical id."""
    is_asked = bool(call.progress.get(_ASKED))
    volume = poll_object(call, VOLUMES) if is_asked else VOLUMES.find(call.cloud, volume_id)
    if not (is_asked and _is_detaching(volume) and _has(volume, server)):
        found = _attachment(call, server, volume_id)
        if found is None and not _has(volume, server):
            return None
        # The bulk list may be older than the request to detach, so read the volume itself.
        volume = VOLUMES.find(call.cloud, volume_id) if is_asked else volume
        if found is not None and not _is_detaching(volume):
            detach_from(call, server, volume_id)
    pause = polling_pause(call, VOLUMES)
    reason = f"server {server} is detaching the volume"
    return Wait(pause, progress={**call.progress, _ASKED: True}, reason=reason)


def _is_detaching(volume: Object | None) -> bool:
    return volume is not None and volume.get("status") == "detaching"


def _attachment(call: Call, server: str, volume_id: str) -> Object | None:
    try:
        path = SERVERS.at(server, f"/os-volume_attachments/{volume_id}")
        answer = SERVERS.ask(call.cloud, "GET", path)
    except CloudError as fault:
        if is_not_found(fault):
            return None
        raise
    return dict(answer["volumeAttachment"])


def _has(volume: Object | None, server: str) -> bool:
    attachments = (volume or {}).get("attachments") or ()
    return any(each.get("server_id") == server for each in attachments)
