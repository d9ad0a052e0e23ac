"""OS::Cinder::QoSSpecs: limits on the speed of volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import QOS_SPECS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since


class QoSSpecs(RestResource):
    """QoS specs. For administrators only."""

    type_name = "OS::Cinder::QoSSpecs"
    description = "Limits on the speed of volumes, for associated volume types."
    service = "block-storage"
    support = since("7.0.0")
    collection = QOS_SPECS
    unique = True
    marker_field = ""
    properties = {
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "specs": declare.mapping(
            "Specs, including the consumer that enforces them.", required=True, update_allowed=True
        ),
    }
    attributes = {"show": declare.SHOW}

    def shows_owner(self, properties: Mapping[str, Any]) -> bool:
        """Return True if the name is generated and so carries the token."""
        return not properties.get("name")

    def creation_body(self, call: Call) -> Object:
        """Return the name, with the specs next to it."""
        name = call.properties.get("name") or call.physical_name
        return {"name": name, **as_texts(call.properties["specs"])}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all QoS specs. With a filter by name, Cinder returns none."""
        return QOS_SPECS.select(call.cloud)

    def update(self, call: Call) -> Outcome:
        """Set the desired specs, and delete the others."""
        desired = as_texts(call.properties["specs"])
        present = _specs_of(QOS_SPECS.get(call.cloud, call.object_id))
        QOS_SPECS.update(call.cloud, call.object_id, desired)
        keys = sorted(present.keys() - desired.keys() - {"consumer"})
        if keys:
            path = QOS_SPECS.at(call.object_id, "/delete_keys")
            QOS_SPECS.ask(call.cloud, "PUT", path, json={"keys": keys})
        return self.judge(call, QOS_SPECS.get(call.cloud, call.object_id))

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return name and specs; the consumer is among the specs if the user gave it."""
        specs = _specs_of(found)
        if "consumer" not in call.properties["specs"]:
            specs.pop("consumer", None)
        return {"name": found.get("name"), "specs": specs}


def _specs_of(found: Object) -> dict[str, str]:
    return {**(found.get("specs") or {}), "consumer": str(found.get("consumer"))}
