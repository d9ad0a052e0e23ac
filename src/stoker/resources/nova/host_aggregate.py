"""OS::Nova::HostAggregate: a group of compute hosts with common metadata.

Names of aggregates are unique. After a lost create, the aggregate of that name is ours if it did
not exist before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since

_AGGREGATES = collection("compute", "aggregate", path="/os-aggregates", words="host aggregate")
_ZONE = "availability_zone"


def _act(call: Call, body: Object) -> None:
    _AGGREGATES.ask(call.cloud, "POST", _AGGREGATES.at(call.object_id, "/action"), json=body)


def _hosts_of(call: Call) -> list[str]:
    return list(_AGGREGATES.get(call.cloud, call.object_id).get("hosts") or [])


def _set_hosts(call: Call) -> None:
    desired, present = call.properties.get("hosts") or [], _hosts_of(call)
    for host in desired:
        if host not in present:
            _act(call, {"add_host": {"host": host}})
    for host in present:
        if host not in desired:
            _act(call, {"remove_host": {"host": host}})


def _set_metadata(call: Call) -> None:
    desired = as_texts(call.properties.get("metadata"))
    gone = dict.fromkeys((call.update.previous.get("metadata") or {}).keys() - desired.keys())
    _act(call, {"set_metadata": {"metadata": {**desired, **gone}}})


class HostAggregate(RestResource):
    """A host aggregate. For administrators only."""

    type_name = "OS::Nova::HostAggregate"
    description = "A group of compute hosts with common metadata."
    service = "compute"
    support = since("6.0.0")
    collection = _AGGREGATES
    marker_field = ""
    follow_up_requests = (
        FollowUpRequest("hosts", _set_hosts, _hosts_of),
        FollowUpRequest("metadata", _set_metadata),
    )

    properties = {
        "availability_zone": declare.string("Availability zone of the hosts.", update_allowed=True),
        "hosts": declare.sequence(
            "Names of the hosts.",
            update_allowed=True,
            items=declare.checked("nova.host", "Name of a host."),
        ),
        "metadata": declare.mapping("Metadata of the hosts.", default={}, update_allowed=True),
        "name": declare.string("Name of the aggregate.", required=True, update_allowed=True),
    }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the aggregate. Nova repeats the zone in the metadata."""
        observed = super().properties_of(call, found)
        metadata = observed.get("metadata") or {}
        rest = {key: value for key, value in metadata.items() if key != _ZONE}
        return {**observed, "metadata": rest}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all aggregates. Nova cannot filter them by name."""
        return _AGGREGATES.select(call.cloud)

    def delete(self, call: Call) -> Outcome:
        """Remove the hosts, then delete the aggregate: Nova refuses to delete one with hosts."""
        if call.physical_id is not None:
            with gone_is_fine():
                for host in _hosts_of(call):
                    _act(call, {"remove_host": {"host": host}})
        return super().delete(call)
