"""OS::Heat::StructuredConfig: a map as configuration for software on servers."""

from __future__ import annotations

from typing import Any

from stoker.resources.heat.configs import StoredConfig, config_properties
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import VALUES, Call
from stoker.schema.support import since


class StructuredConfig(StoredConfig):
    """A map with inputs and outputs. It never changes."""

    type_name = "OS::Heat::StructuredConfig"
    uses_early = frozenset({VALUES})
    description = "Configuration as a map, with its inputs and outputs."
    support = since("2014.1")
    properties = config_properties(Type.MAP, "The configuration.")
    attributes = {"config": Attribute("The configuration.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """Return the configuration."""
        return call.properties["config"] or {}
