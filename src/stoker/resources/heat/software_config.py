"""Configuration that software on a server is given, as text."""

from __future__ import annotations

from typing import Any

from stoker.resources.heat.configs import StoredConfig, config_properties
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class SoftwareConfig(StoredConfig):
    """A script or other text with its inputs and outputs; it never changes."""

    type_name = "OS::Heat::SoftwareConfig"
    description = "A script, or other configuration as text, with its inputs and outputs."
    support = since("2014.1")
    properties = config_properties(Type.STRING, "The script or configuration.")
    attributes = {"config": Attribute("The script or configuration.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """The configuration."""
        return call.properties["config"]
