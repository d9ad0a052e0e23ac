"""OS::Neutron::MeteringLabel: a label for metered router traffic."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class MeteringLabel(RestResource):
    """A metering label."""

    type_name = "OS::Neutron::MeteringLabel"
    description = "A label for metered router traffic."
    service = "network"
    support = since("2014.1")
    extension = "metering"
    collection = collection(
        "network",
        "metering_label",
        path="/metering/metering-labels",
        plural="metering_labels",
        words="metering label",
    )
    marker_field = ""

    properties = {
        "description": declare.string("Description of the object."),
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "shared": declare.boolean(
            "Whether the label meters the traffic of all projects.",
            default=False,
            support=since("2015.1"),
        ),
    }
    attributes = {
        "description": Attribute("Description of the object.", Type.STRING),
        "name": Attribute("Name of the object.", Type.STRING),
        "shared": Attribute("Whether other projects can use the object.", Type.STRING),
        "show": declare.SHOW,
    }
