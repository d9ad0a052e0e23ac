"""What the types of software configuration share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from stoker.resources import declare
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import SUPPORTED, SupportStatus

UNGROUPED = "Heat::Ungrouped"


def config_group(support: SupportStatus = SUPPORTED) -> Property:
    """The property that says which tool applies a configuration."""
    return declare.string(
        "Which tool applies the configuration, as script or puppet.",
        default=UNGROUPED,
        support=support,
    )


OPTIONS = declare.mapping("Options of the tool that applies the configuration.")
_TYPE = declare.choice(
    ["String", "Number", "CommaDelimitedList", "Json", "Boolean"],
    "Type of the value.",
    default="String",
)
INPUTS = declare.records(
    "The inputs of the configuration.",
    entries={
        "name": declare.string("Name of the input.", required=True),
        "description": declare.string("What the input is for."),
        "type": _TYPE,
        "default": Property(Type.ANY, "Value if none is given."),
        "replace_on_change": declare.boolean(
            "Whether a new value replaces the deployment instead of updating it.", default=False
        ),
    },
)
OUTPUTS = declare.records(
    "The outputs of the configuration.",
    entries={
        "name": declare.string("Name of the output.", required=True),
        "description": declare.string("What the output tells."),
        "type": _TYPE,
        "error_output": declare.boolean(
            "Whether a value in this output means that the deployment failed.", default=False
        ),
    },
)


def config_properties(kind: Type, description: str) -> dict[str, Property]:
    """The properties of a configuration with inputs and outputs."""
    return {
        "group": config_group(),
        "config": Property(kind, description),
        "options": OPTIONS,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
    }


class StoredConfig(ManagedType):
    """A configuration that is stored with its resource and never changes."""

    @abstractmethod
    def content(self, call: Call) -> Any:
        """The configuration."""

    def create(self, call: Call) -> Outcome:
        """Store the configuration, with all that deployments need of it."""
        config, given = self.content(call), call.properties
        data = {
            "config": config,
            "group": given.get("group") or UNGROUPED,
            "inputs": given.get("inputs") or [],
            "outputs": given.get("outputs") or [],
            "options": given.get("options") or {},
        }
        return Done(physical_id=call.resource_id, attributes={"config": config}, data=data)

    def delete(self, call: Call) -> Outcome:
        """The configuration goes with the resource."""
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The configuration as it is stored."""
        return {"config": call.data.get("config")}
