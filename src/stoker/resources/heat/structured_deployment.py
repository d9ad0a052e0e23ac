"""OS::Heat::StructuredDeployment: a deployment of a map with inputs filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.errors import PARAMETER_MISSING, ValidationError
from stoker.resources.base import declare
from stoker.resources.heat.deployment_inputs import values_of
from stoker.resources.heat.software_deployment import COMMON, SERVER, SoftwareDeployment
from stoker.schema.resource_type import Call
from stoker.schema.software import Entry, SoftwareConfig
from stoker.schema.support import since

# Properties of groups of structured deployments, too.
STRUCTURED = {
    **COMMON,
    "input_key": declare.string(
        "Key of an input: a map with only this key is replaced by the value of the input.",
        default="get_input",
    ),
    "input_values_validate": declare.choice(
        ["LAX", "STRICT"],
        "Whether an input without a value is empty or an error.",
        default="LAX",
    ),
}


class StructuredDeployment(SoftwareDeployment):
    """A map on a server. ``{get_input: name}`` in it is replaced by the value of the input."""

    type_name = "OS::Heat::StructuredDeployment"
    description = "Applies a structured configuration on a server, with its inputs filled in."
    support = since("2014.1")
    properties = {"server": SERVER, **STRUCTURED}

    def derived(self, call: Call, config: SoftwareConfig, inputs: Sequence[Entry]) -> Any:
        """Return the map with the values of the inputs."""
        key, is_strict = call.properties["input_key"], _is_strict(call)
        return _filled(config.config, key, values_of(inputs), is_strict=is_strict)

    def empty(self) -> Any:
        """Return the content of a deployment without a configuration."""
        return {}


def _is_strict(call: Call) -> bool:
    return bool(call.properties["input_values_validate"] == "STRICT")


def _filled(value: Any, key: str, inputs: Mapping[str, Any], *, is_strict: bool) -> Any:
    """Replace references to inputs by their values.

    Raise ValidationError for an input without a value if ``is_strict``.
    """
    if isinstance(value, Mapping):
        name = value.get(key) if len(value) == 1 else None
        if isinstance(name, str):
            if is_strict and name not in inputs:
                missing = f"The Parameter ({name}) was not provided: no input has that name"
                raise ValidationError(missing, PARAMETER_MISSING)
            return inputs.get(name)
        return {k: _filled(v, key, inputs, is_strict=is_strict) for k, v in value.items()}
    if isinstance(value, list):
        return [_filled(entry, key, inputs, is_strict=is_strict) for entry in value]
    return value
