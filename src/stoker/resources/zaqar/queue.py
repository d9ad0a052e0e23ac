"""OS::Zaqar::Queue: a message queue. Its id is its name.

Zaqar does not create an existing queue again. Such a queue belongs to others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import fault_from
from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.support import deprecated, hidden, since

_QUEUES = KINDS["message", "queue"]
_CHANGES = "application/openstack-messaging-v2.0-json-patch"
_ERRORS = 400


class ZaqarQueue(ManagedType):
    """A queue."""

    type_name = "OS::Zaqar::Queue"
    id_form = "NAME"
    description = "A message queue."
    service = "message"
    support = since("2014.2")
    unique = True
    link = "message queue"
    physical_name_limit = 64

    properties = {
        "metadata": declare.mapping("Metadata of the queue.", update_allowed=True),
        "name": declare.string(
            "Name of the queue. If not given, a name is generated.", constraints=(Length(max=64),)
        ),
    }
    attributes = {
        "href": Attribute("Path of the queue."),
        "queue_id": Attribute(
            "Name of the queue.", support=hidden("6.0.0", deprecated("2015.1", was="2014.1"))
        ),
        "show": declare.SHOW,
    }

    def shows_owner(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the name was generated. It ends with the token then."""
        return not properties.get("name")

    def create(self, call: Call) -> Outcome:
        """Create the queue."""
        name = str(call.properties.get("name") or call.physical_name)
        metadata = call.properties.get("metadata") or {}
        _QUEUES.ask(call.cloud, "PUT", _QUEUES.at(name), json=metadata)
        return Done(name, _names(name))

    def update(self, call: Call) -> Outcome:
        """Change the metadata of the queue."""
        before, after = (
            properties.get("metadata") or {}
            for properties in (call.update.previous, call.properties)
        )
        changes = [
            {
                "op": "replace" if key in before else "add",
                "path": f"/metadata/{key}",
                "value": value,
            }
            for key, value in after.items()
            if key not in before or before[key] != value
        ]
        changes += [{"op": "remove", "path": f"/metadata/{key}"} for key in before.keys() - after]
        if changes:
            # Zaqar accepts changes of metadata only as JSON patches of this media type.
            answer = call.cloud.service("message").request(
                _QUEUES.at(call.object_id),
                "PATCH",
                json=changes,
                headers={**dict(_QUEUES.headers), "Content-Type": _CHANGES},
            )
            if answer.status_code >= _ERRORS:
                raise fault_from(answer)
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Delete the queue with its messages."""
        if call.physical_id is not None:
            _QUEUES.delete(call.cloud, call.physical_id)
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the queue with this name."""
        name = str(call.properties.get("name") or call.physical_name)
        return name if _is_there(call, name) else None

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the queue as the service describes it."""
        found = _QUEUES.ask(call.cloud, "GET", _QUEUES.at(call.object_id))
        return {**_names(call.object_id), "show": found}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the metadata of the queue."""
        if not _is_there(call, call.object_id):
            return None
        found = _QUEUES.ask(call.cloud, "GET", _QUEUES.at(call.object_id))
        metadata = {key: value for key, value in found.items() if not key.startswith("_")}
        return {"name": call.object_id, "metadata": metadata}

    def check(self, call: Call) -> Outcome:
        """Check that the queue exists."""
        if call.physical_id is None or not _is_there(call, call.physical_id):
            return Failed(f"the message queue {call.physical_id} no longer exists")
        return Done()


def _is_there(call: Call, name: str) -> bool:
    """Return whether the queue is in the list. A request for the queue itself would create it."""
    return any(item["name"] == name for item in _QUEUES.select(call.cloud))


def _names(name: str) -> dict[str, str]:
    return {"queue_id": name, "href": f"/v2{_QUEUES.at(name)}"}
