"""OS::Heat::SoftwareComponent: a configuration of parts for different actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.heat.configs import COMPONENT, INPUTS, OPTIONS, OUTPUTS, StoredConfig
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class SoftwareComponent(StoredConfig):
    """A configuration of parts. It never changes."""

    type_name = "OS::Heat::SoftwareComponent"
    description = "A configuration of parts, each for certain actions."
    support = since("2014.2")
    properties = {
        "configs": declare.records(
            "The parts.",
            required=True,
            constraints=(Length(min=1),),
            entries={
                "actions": declare.sequence(
                    "Actions in which the part is applied.",
                    default=["CREATE", "UPDATE"],
                    items=declare.string("An action."),
                    constraints=(Length(min=1),),
                ),
                "config": declare.string("Script or configuration."),
                "tool": declare.string(
                    "Tool that applies the part, such as script.", required=True
                ),
            },
        ),
        "inputs": INPUTS,
        "outputs": OUTPUTS,
        "options": OPTIONS,
    }
    attributes = {"config": Attribute("The parts.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """Return the parts."""
        return {"configs": call.properties["configs"]}

    def group(self, call: Call) -> str:
        """Return the group that marks components for agents."""
        return COMPONENT

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that each action is in one part only."""
        seen: set[str] = set()
        for index, part in declare.records_in(properties.get("configs")):
            actions = part.get("actions")
            for action in actions if isinstance(actions, list) else ():
                if action in seen:
                    path = ("configs", index, "actions")
                    message = f"{action} is in another part already; an action has one part only"
                    return [Diagnostic("action-twice", message, path)]
                if isinstance(action, str):
                    seen.add(action)
        return []
