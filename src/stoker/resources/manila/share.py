"""OS::Manila::Share: a shared file system.

The description has another name in updates, so it cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, Readiness, RestResource
from stoker.resources.shared.text_values import as_texts
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_SHARES = collection("shared-file-system", "share", microversion="2.7")
_WITH_STATES = "2.28"  # lowest microversion with the state of each access rule
# States of access rules that were denied, but are not deleted yet.
_GOING = frozenset({"queued_to_deny", "denying", "deleting"})
_IN_UPDATES = {"name": "display_name", "description": "display_description"}


def _updated(body: Object) -> Object:
    return {_IN_UPDATES.get(name, name): value for name, value in body.items()}


def _act(call: Call, action: str, body: Object | None) -> Object:
    path = _SHARES.at(call.object_id, "/action")
    return _SHARES.ask(call.cloud, "POST", path, json={action: body}, microversion=_WITH_STATES)


def _present(call: Call) -> list[Object]:
    listed = _act(call, "access_list", None).get("access_list") or []
    return [entry for entry in listed if entry.get("state") not in _GOING]


def _rule(entry: Mapping[str, Any]) -> Object:
    names = ("access_type", "access_to", "access_level")
    return {name: entry[name] for name in names if entry.get(name) is not None}


def _allowed(call: Call) -> list[Object]:
    return [_rule(entry) for entry in _present(call)]


def _allow(call: Call) -> None:
    desired = [_rule(entry) for entry in call.properties.get("access_rules") or ()]
    present = _present(call)
    for entry in present:
        if _rule(entry) not in desired:
            _act(call, "deny_access", {"access_id": entry["id"]})
    known = [_rule(entry) for entry in present]
    for rule in desired:
        if rule not in known:
            _act(call, "allow_access", rule)


def _label(call: Call) -> None:
    texts, path = as_texts(call.properties.get("metadata")), _SHARES.at(call.object_id, "/metadata")
    _SHARES.ask(call.cloud, "PUT", path, json={"metadata": texts})


class Share(RestResource):
    """A share."""

    type_name = "OS::Manila::Share"
    description = "A shared file system."
    service = "shared-file-system"
    has_data = True
    support = since("5.0.0")
    collection = _SHARES
    readiness = Readiness(pending=frozenset({"creating"}), failed=frozenset({"error"}))
    async_delete = True
    marker_field = ""
    field_names = {
        "share_network": "share_network_id",
        "share_protocol": "share_proto",
        "snapshot": "snapshot_id",
    }
    follow_up_requests = (
        FollowUpRequest("access_rules", _allow, _allowed),
        FollowUpRequest("metadata", _label),
    )

    properties = {
        "access_rules": declare.records(
            "Access rules of the share.",
            default=[],
            update_allowed=True,
            entries={
                "access_level": declare.choice(["ro", "rw"], "Access level."),
                "access_to": declare.string("Client that gets access.", required=True),
                "access_type": declare.choice(
                    ["ip", "user", "cert", "cephx"], "Type of the client.", required=True
                ),
            },
        ),
        "description": declare.DESCRIPTION,
        "is_public": declare.boolean(
            "Whether all projects can see the share.", default=False, update_allowed=True
        ),
        "metadata": declare.mapping("Metadata of the share.", update_allowed=True),
        "name": declare.NAME,
        "share_network": declare.by_name("manila.share_network", "Share network"),
        "share_protocol": declare.choice(
            ["NFS", "CIFS", "GlusterFS", "HDFS", "CEPHFS"], "Protocol of the share.", required=True
        ),
        "share_type": declare.by_name("manila.share_type", "Share type"),
        "size": declare.integer("Size in GiB.", required=True),
        "snapshot": declare.by_name("manila.share_snapshot", "Snapshot to create the share from"),
    }
    attributes = {
        "availability_zone": Attribute("Availability zone.", Type.STRING),
        "created_at": Attribute("Time of the creation.", Type.STRING),
        "export_locations": Attribute("Paths to mount the share from.", Type.LIST),
        "host": Attribute("Host of the share.", Type.STRING),
        "project_id": Attribute("Id of the project.", Type.STRING),
        "share_server_id": Attribute("Id of the share server.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "show": declare.SHOW,
    }

    def changed_fields(self, call: Call) -> Object:
        """Return the changed fields, since name and description have other names in updates."""
        return _updated(super().changed_fields(call))

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties; the type by id if the user gave the id."""
        observed = super().properties_of(call, found)
        names = (found.get("share_type"), found.get("share_type_name"))
        share_type = call.properties.get("share_type")
        return {**observed, "share_type": share_type if share_type in names else names[0]}
