"""OS::Manila::ShareType: a share type.

Names of share types are unique. After a lost create, the type of that name is ours if it did not
exist before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource, rename_fields
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_TYPES = KINDS["shared-file-system", "share_type"]
_TRAITS = ("driver_handles_share_servers", "snapshot_support")


def _specs_of(call: Call) -> Object:
    answer = _TYPES.ask(call.cloud, "GET", _TYPES.at(call.object_id, "/extra_specs"))
    return {k: v for k, v in (answer.get("extra_specs") or {}).items() if k not in _TRAITS}


def _specify(call: Call) -> None:
    texts = as_texts(call.properties.get("extra_specs"))
    path = _TYPES.at(call.object_id, "/extra_specs")
    if texts:
        _TYPES.ask(call.cloud, "POST", path, json={"extra_specs": texts})
    for key in _specs_of(call):
        if key not in texts:
            _TYPES.ask(call.cloud, "DELETE", f"{path}/{key}")


class ShareType(RestResource):
    """A share type. For administrators only."""

    type_name = "OS::Manila::ShareType"
    description = "A share type."
    service = "shared-file-system"
    support = since("5.0.0")
    collection = _TYPES
    marker_field = ""
    follow_up_requests = (FollowUpRequest("extra_specs", _specify, _specs_of),)

    properties = {
        "driver_handles_share_servers": declare.boolean(
            "Whether the driver creates a server for each share.", required=True
        ),
        "extra_specs": declare.mapping("Extra specs of the type.", update_allowed=True),
        "is_public": declare.boolean("Whether all projects can use the type.", default=True),
        "name": declare.string("Name of the type.", required=True),
        "snapshot_support": declare.boolean(
            "Whether shares support snapshots.", default=True, support=since("6.0.0")
        ),
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields, with the two required extra specs."""
        own = {"share_type_access:is_public": properties.get("is_public")}
        specs = {name: properties.get(name) for name in _TRAITS}
        return {**rename_fields(own), "extra_specs": rename_fields(specs)}

    def changed_fields(self, call: Call) -> Object:
        """Return no fields: only extra specs can change, with requests of their own."""
        return {}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with the two required extra specs."""
        specs = found.get("extra_specs") or {}
        public = found.get("share_type_access:is_public")
        observed = {name: specs.get(name) for name in _TRAITS}
        return {**observed, "name": found.get("name"), "is_public": public}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all types. Manila cannot filter them by name."""
        return _TYPES.select(call.cloud)
