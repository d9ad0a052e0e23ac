"""OS::Cinder::QoSSpecs: how fast volumes may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import QOS_SPECS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since


class QoSSpecs(RestResource):
    """QoS specs. For administrators only."""

    type_name = "OS::Cinder::QoSSpecs"
    description = "How fast volumes of the types that are associated with it may be."
    service = "block-storage"
    support = since("7.0.0")
    collection = QOS_SPECS
    unique = True
    marker_field = ""
    properties = {
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "specs": declare.mapping(
            "Keys and values, among them consumer.", required=True, update_allowed=True
        ),
    }
    attributes = {"show": declare.SHOW}

    def shows_owner(self, properties: Mapping[str, Any]) -> bool:
        """Return True if the name is generated and so carries the token."""
        return not properties.get("name")

    def creation_body(self, call: Call) -> Object:
        """Return the name, and beside it the specs."""
        name = call.properties.get("name") or call.physical_name
        return {"name": name, **as_texts(call.properties["specs"])}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """Return all QoS specs: asked for those of a name, the service finds none."""
        return QOS_SPECS.select(call.cloud)

    def update(self, call: Call) -> Outcome:
        """Set the wanted specs, and remove the others."""
        wanted = as_texts(call.properties["specs"])
        present = _told(QOS_SPECS.get(call.cloud, call.object_id))
        QOS_SPECS.update(call.cloud, call.object_id, wanted)
        keys = sorted(present.keys() - wanted.keys() - {"consumer"})
        if keys:
            path = QOS_SPECS.at(call.object_id, "/delete_keys")
            QOS_SPECS.ask(call.cloud, "PUT", path, json={"keys": keys})
        return self.judge(call, QOS_SPECS.get(call.cloud, call.object_id))

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Name and specs; who consumes them is among the specs if the user has said so."""
        specs = _told(found)
        if "consumer" not in call.properties["specs"]:
            specs.pop("consumer", None)
        return {"name": found.get("name"), "specs": specs}


def _told(found: Object) -> dict[str, str]:
    return {**(found.get("specs") or {}), "consumer": str(found.get("consumer"))}
