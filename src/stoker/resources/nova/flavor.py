"""OS::Nova::Flavor: a size of servers.

If the user chose the name, the marker is the flavor's description. Nova has descriptions of flavors
since microversion 2.55 (Queens, 2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import CloudError, is_conflict, is_not_found
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import FLAVORS
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource, marker_text
from stoker.resources.shared.text_values import as_texts
from stoker.schema.constraints import Custom
from stoker.schema.properties import Attribute, Finder, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_MARKED = replace(FLAVORS, microversion="2.55")  # flavors with their descriptions


def _specs_of(call: Call) -> Object:
    specs: Object = FLAVORS.ask(call.cloud, "GET", _specs_at(call)).get("extra_specs", {})
    return specs


def _specs_at(call: Call) -> str:
    return FLAVORS.at(call.object_id, "/os-extra_specs")


def _set_specs(call: Call) -> None:
    desired = as_texts(call.properties.get("extra_specs"))
    path, present = _specs_at(call), _specs_of(call)
    changed = {key: text for key, text in desired.items() if present.get(key) != text}
    if changed:
        send(call.cloud.service("compute"), "POST", path, json={"extra_specs": changed})
    for key in call.update.previous.get("extra_specs") or {}:
        if key not in desired and key in present:
            send(call.cloud.service("compute"), "DELETE", f"{path}/{key}")


def _access_of(call: Call) -> list[str]:
    answer = FLAVORS.ask(call.cloud, "GET", FLAVORS.at(call.object_id, "/os-flavor-access"))
    return [str(entry["tenant_id"]) for entry in answer.get("flavor_access", [])]


def _set_access(call: Call) -> None:
    desired = set(call.properties.get("tenants") or [])
    before = set(call.update.previous.get("tenants") or [])
    for action, projects in (
        ("addTenantAccess", desired - before),
        ("removeTenantAccess", before - desired),
    ):
        for project in sorted(projects):
            body = {action: {"tenant": project}}
            try:
                FLAVORS.ask(call.cloud, "POST", FLAVORS.at(call.object_id, "/action"), json=body)
            except CloudError as fault:
                if not is_conflict(fault) and not is_not_found(fault):
                    raise


class Flavor(RestResource):
    """A flavor. For administrators only."""

    type_name = "OS::Nova::Flavor"
    description = "A size of servers: vCPUs, memory and disks."
    service = "compute"
    support = since("2014.2")
    collection = FLAVORS
    field_names = {
        "flavorid": "id",
        "ephemeral": "OS-FLV-EXT-DATA:ephemeral",
        "is_public": "os-flavor-access:is_public",
    }
    attribute_fields = {"is_public": "os-flavor-access:is_public"}
    follow_up_requests = (
        FollowUpRequest("extra_specs", _set_specs, _specs_of),
        FollowUpRequest("tenants", _set_access, _access_of),
    )

    properties = {
        "disk": declare.integer("Size of the root disk in GiB.", default=0),
        "ephemeral": declare.integer("Size of the ephemeral disk in GiB.", default=0),
        "extra_specs": declare.mapping("Extra specs of the flavor.", update_allowed=True),
        "flavorid": declare.string(
            "Id of the flavor; if not given, an id is generated.", support=since("7.0.0")
        ),
        "is_public": declare.boolean(
            "Whether all projects can use the flavor.", default=True, support=since("6.0.0")
        ),
        "name": declare.string(
            "Name of the object. If not given, a name is generated.", support=since("7.0.0")
        ),
        "ram": declare.integer("Memory in MiB.", required=True),
        "rxtx_factor": declare.number(
            "Receive and transmit factor of the network interfaces.", default=1.0
        ),
        "swap": declare.integer("Size of the swap disk in MiB.", default=0),
        "tenants": declare.sequence(
            "Projects that can use a flavor that is not public.",
            default=[],
            update_allowed=True,
            support=since("8.0.0"),
            items=declare.string(
                constraints=(Custom("keystone.project"),), finder=Finder("identity", "project")
            ),
        ),
        "vcpus": declare.integer("Number of vCPUs.", required=True),
    }
    attributes = {
        "extra_specs": Attribute(
            "Extra specs of the flavor.", type=Type.MAP, support=since("7.0.0")
        ),
        "is_public": Attribute(
            "Whether all projects can use the flavor.", type=Type.BOOLEAN, support=since("6.0.0")
        ),
        "show": declare.SHOW,
    }

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes, including the extra specs, which Nova has at a separate path."""
        return {**super().read(call), "extra_specs": _specs_of(call)}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the flavor. Nova reports a missing swap disk as ""."""
        return {**super().properties_of(call, found), "swap": found.get("swap") or 0}

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """Return the microversion with descriptions, if the description holds the marker."""
        return _MARKED.microversion if properties.get("name") else None

    def _with_token(self, call: Call) -> list[Object]:
        """Return the flavors with the token, including private ones."""
        if not call.properties.get("name"):
            return self.candidates(call)
        listed = _MARKED.select(call.cloud, is_public="None")
        return [item for item in listed if item.get("description") == marker_text(call)]

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all flavors, including private ones. Nova cannot filter them by name."""
        return FLAVORS.select(call.cloud, is_public="None")

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return whether the flavor is public. Extra specs are read on demand."""
        own = super().attributes_of(call, found)
        return {name: value for name, value in own.items() if name != "extra_specs"}
