"""Inputs of a deployment: those of its configuration with values, and derived ones.

Agents on servers expect the derived inputs under these names. Their descriptions are part of the
configuration, whose id is a digest: a change of a word offers running deployments again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stoker.schema.resource_type import Call
from stoker.schema.software import Entry


class DeploymentInput(NamedTuple):
    """A derived input, which no configuration declares."""

    name: str
    value: Any
    description: str


def derived_inputs(
    call: Call,
    declared: Sequence[Entry],
    values: Mapping[str, Any],
    signal: Iterable[DeploymentInput],
) -> list[dict[str, Any]]:
    """Return declared inputs with values, undeclared values, and derived inputs.

    ``signal`` has the inputs for the transport of the report.
    """
    left = dict(values)
    inputs = [
        {**entry, "value": left.pop(entry["name"], entry.get("default"))} for entry in declared
    ]
    inputs += [{"name": name, "type": "String", "value": value} for name, value in left.items()]
    for entry in (*_about(call), *signal):
        inputs.append(
            {
                "name": entry.name,
                "description": entry.description,
                "type": "String",
                "value": entry.value,
            }
        )
    return inputs


def replacing_inputs(
    declared: Sequence[Entry], values: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return value and default of the inputs whose change replaces the deployment."""
    return {
        entry["name"]: {
            "value": values.get(entry["name"], entry.get("default")),
            "default": entry.get("default"),
        }
        for entry in declared
        if entry.get("replace_on_change")
    }


def values_of(inputs: Iterable[Entry]) -> dict[str, Any]:
    """Return the values of derived inputs by name."""
    return {entry["name"]: entry.get("value") for entry in inputs}


def _about(call: Call) -> tuple[DeploymentInput, ...]:
    properties = call.properties
    return (
        DeploymentInput(
            "deploy_server_id", properties["server"], "The server that this is deployed to."
        ),
        DeploymentInput("deploy_action", call.action, "The action of the resource."),
        DeploymentInput(
            "deploy_stack_id",
            f"{call.stack.name}/{call.stack.id}",
            "The stack that this deployment belongs to.",
        ),
        DeploymentInput(
            "deploy_resource_name", call.name, "The resource of this deployment in the stack."
        ),
        DeploymentInput(
            "deploy_signal_transport",
            properties["signal_transport"],
            "How the server reports the values of the outputs.",
        ),
    )
