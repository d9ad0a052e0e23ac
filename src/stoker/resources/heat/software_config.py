"""OS::Heat::SoftwareConfig: a script or other text for software on servers."""

from __future__ import annotations

from typing import Any

from stoker.resources.heat.configs import StoredConfig, config_properties
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import VALUES, Call
from stoker.schema.support import since


class SoftwareConfig(StoredConfig):
    """A text with inputs and outputs. It never changes."""

    type_name = "OS::Heat::SoftwareConfig"
    uses_early = frozenset({VALUES})
    description = "A script or other configuration text, with inputs and outputs."
    support = since("2014.1")
    properties = config_properties(Type.STRING, "Script or configuration.")
    attributes = {"config": Attribute("Script or configuration.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """Return the configuration."""
        return call.properties["config"]
