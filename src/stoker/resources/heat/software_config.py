"""Configuration that software on a server is given, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.heat.configs import INPUTS, OPTIONS, OUTPUTS, config_group, keep_config
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import since


class SoftwareConfig(ManagedType):
    """A script or other text with its inputs and outputs; it never changes."""

    type_name = "OS::Heat::SoftwareConfig"
    description = "A script, or other configuration as text, with its inputs and outputs."
    support = since("2014.1")
    properties = {
        "group": config_group(),
        "config": Property(Type.STRING, "The script or configuration."),
        "options": OPTIONS,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
    }
    attributes = {"config": Attribute("The script or configuration.", Type.STRING)}

    def create(self, call: Call) -> Outcome:
        """Keeps the configuration."""
        return keep_config(call, call.properties["config"])

    def delete(self, call: Call) -> Outcome:
        """The configuration goes with the resource."""
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The configuration as it was kept."""
        return {"config": call.data.get("config")}
