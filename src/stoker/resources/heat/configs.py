"""Base of the software configuration types."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from stoker.kernel.errors import ValidationError
from stoker.resources.base import declare
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.software import (
    INPUT,
    OUTPUT,
    SoftwareChange,
    SoftwareConfig,
    checked_inputs,
    checked_outputs,
)
from stoker.schema.support import SUPPORTED, SupportStatus

UNGROUPED = "Heat::Ungrouped"
COMPONENT = "component"  # Group of configurations that consist of parts, each for certain actions.


def config_group(support: SupportStatus = SUPPORTED) -> Property:
    """Declare the property with the tool that applies a configuration."""
    return declare.string(
        "Tool that applies the configuration, such as script or puppet.",
        default=UNGROUPED,
        support=support,
    )


OPTIONS = declare.mapping("Options of the tool that applies the configuration.")
INPUTS = declare.records("The inputs of the configuration.", entries=INPUT)
OUTPUTS = declare.records("The outputs of the configuration.", entries=OUTPUT)


def config_properties(kind: Type, description: str) -> dict[str, Property]:
    """Declare the properties of a configuration with inputs and outputs."""
    return {
        "group": config_group(),
        "config": Property(kind, description),
        "options": OPTIONS,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
    }


class StoredConfig(ManagedType):
    """A stored configuration for deployments and servers. It never changes."""

    keeps_software = True
    renewed = True

    @abstractmethod
    def content(self, call: Call) -> Any:
        """Return the content of the configuration."""

    def create(self, call: Call) -> Outcome:
        """Store the configuration."""
        content, properties = self.content(call), call.properties
        try:
            config = SoftwareConfig(
                id=call.resource_id,
                project_id=call.stack.project_id,
                created_at=call.started_at,
                name=call.physical_name,
                group=self.group(call),
                config=content,
                inputs=checked_inputs(properties.get("inputs") or ()),
                outputs=checked_outputs(properties.get("outputs") or ()),
                options=properties.get("options") or {},
            )
        except ValidationError as invalid:
            return Failed(invalid.message, kind="ValueError")
        software = SoftwareChange(configs=(config,))
        return Done(call.resource_id, attributes={"config": content}, software=software)

    def group(self, call: Call) -> str:
        """Return the tool that applies the configuration."""
        return call.properties.get("group") or UNGROUPED

    def delete(self, call: Call) -> Outcome:
        """Delete the configuration, unless a deployment still uses it."""
        return Done(software=SoftwareChange(dropped=(call.physical_id or call.resource_id,)))

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the stored configuration."""
        found = call.configs.get(call.object_id)
        return {"config": found.config if found is not None else None}
