"""Suspends, resumes, images and deletes a server."""

from __future__ import annotations

from stoker.clouds.faults import CloudError, describe, is_conflict
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import IMAGES, SERVERS
from stoker.resources.base.rest import poll_object, polling_pause
from stoker.resources.nova.server.states import BROKEN, GONE, TASK, broken, live
from stoker.schema.resource_type import Call, Done, Failed, Outcome, Wait

_SNAPSHOT_ID_IN_BODY = "2.45"
_WITHOUT_DISK = frozenset({"BUILD", "ERROR", "DELETED", "SOFT_DELETED"})
_LONGEST_QUEUED = 60.0
_MOST_LOST = 20  # An image that Nova aborted is requested again up to this many times.
_LOST_IMAGES = frozenset({"killed", "deleted", "error"})


IMAGE = "snapshot_image_id"  # Key of the data: id of the newest image.


def brought_to(call: Call, status: str, action: str) -> Outcome:
    """Request an action until the server has the status. A 409 for a busy server is retried."""
    server = live(call)
    if server.get("status") == status and not server.get(TASK):
        return Done()
    if server.get("status") in BROKEN:
        return broken(server)
    if not server.get(TASK):
        path = SERVERS.at(call.object_id, "/action")
        try:
            SERVERS.ask(call.cloud, "POST", path, json={action: None})
        except CloudError as fault:
            if not is_conflict(fault):
                raise
            if "task_state" not in fault.message:
                return Failed(describe(fault))
    return Wait(polling_pause(call), reason=f"the server is to be {status}")


def take_image(call: Call) -> Outcome:
    """Create an image of the server, and wait for it. The id goes into the data."""
    image_id = call.progress.get("image")
    if image_id is None:
        server = SERVERS.find(call.cloud, call.physical_id or "")
        if server is None or server.get("status") in _WITHOUT_DISK:
            return _nothing_to_image(call, server)
        if server.get(TASK):
            return Wait(polling_pause(call), reason=f"the server is {server[TASK]}")
        image_id = _image_named(call)
        if image_id is None and call.now < call.snapshot.lands_until:
            return Wait(polling_pause(call), reason=f"looking for the image {call.snapshot.name}")
        image_id = image_id or _request_image(call)
        return Wait(polling_pause(call), progress={**call.progress, "image": image_id})
    image = IMAGES.find(call.cloud, str(image_id))
    if image is None:
        return _again(call, str(image_id))
    status = image.get("status")
    if status == "active":
        return Done(data={**call.data, IMAGE: image_id})
    if status in _LOST_IMAGES:
        return Failed(f"the image {image_id} of the server is {status}")
    if status == "queued" and call.now - call.started_at > _LONGEST_QUEUED and not _has_task(call):
        return Failed(f"the compute service has ended without data for the image {image_id}")
    return Wait(polling_pause(call), reason=f"the image {image_id} is {status}")


def _nothing_to_image(call: Call, server: Object | None) -> Outcome:
    """Succeed before a delete, where an image is a precaution; fail a requested snapshot."""
    if call.action == "SNAPSHOT":
        state = "no longer exists" if server is None else f"is {server.get('status')}"
        return Failed(f"the server {call.physical_id} {state}: there is nothing to snapshot")
    return Done(data={key: value for key, value in call.data.items() if key != IMAGE})


def _again(call: Call, image_id: str) -> Outcome:
    """Request another image after an aborted one.

    Nova deletes the image if it fails to create it, for instance because its process ended.
    """
    lost = call.progress.get("lost", 0) + 1
    if lost > _MOST_LOST:
        return Failed(f"the image {image_id} of the server is gone, as were {lost - 1} before it")
    return Wait(polling_pause(call), progress={"lost": lost}, reason="the image was aborted")


def _has_task(call: Call) -> bool:
    server = SERVERS.find(call.cloud, call.physical_id or "")
    return server is not None and bool(server.get(TASK))


def _image_named(call: Call) -> str | None:
    """Return the image that an earlier call requested."""
    found = IMAGES.named(call.cloud, call.snapshot.name)
    return str(found[0]["id"]) if found else None


def _request_image(call: Call) -> str:
    body = {"createImage": {"name": call.snapshot.name}}
    path = SERVERS.at(call.object_id, "/action")
    answer = SERVERS.ask(call.cloud, "POST", path, json=body, microversion=_SNAPSHOT_ID_IN_BODY)
    return str(answer["image_id"])


def delete_image(call: Call) -> Outcome:
    """Delete the image of the server, including one whose create response was lost."""
    known = call.data.get(IMAGE)
    named = [image["id"] for image in IMAGES.named(call.cloud, call.snapshot.name)]
    for image_id in {*named, *([known] if known else [])}:
        IMAGES.delete(call.cloud, str(image_id))
    if not named and known is None and call.now < call.snapshot.lands_until:
        return Wait(polling_pause(call), reason=f"looking for the image {call.snapshot.name}")
    return Done()


def is_removed(call: Call) -> bool:
    """Return whether the server is gone. The delete is repeated until Nova works on it."""
    if call.physical_id is None:
        return True
    if not call.progress.get("asked"):
        return not SERVERS.delete(call.cloud, call.physical_id)
    server = poll_object(call, SERVERS)
    if server is None or server.get("status") in GONE:
        return True
    # No task means that Nova gave the delete up, for instance because its process ended.
    if not server.get(TASK):
        SERVERS.delete(call.cloud, call.physical_id)
    return False
