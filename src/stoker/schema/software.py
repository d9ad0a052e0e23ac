"""Software configs and deployments: inputs for the software on servers, and its outputs.

A config is text or a map with its inputs and outputs, and never changes. A deployment gives a
config to a server; the agent that applies it there returns the values of the outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from stoker.kernel.clock import isoformat
from stoker.kernel.diagnostics import format_path
from stoker.kernel.errors import ValidationError
from stoker.schema.constraints import AllowedValues
from stoker.schema.conversion import (
    TypeMismatchError,
    to_boolean,
    to_json_parameter,
    to_list_parameter,
    to_number,
)
from stoker.schema.properties import Property, Type
from stoker.schema.values import check_properties

POLLING_METADATA = "told"  # key of a server's data: the metadata beside that of the template
Entry = Mapping[str, Any]  # a declared input or output

_TYPE = Property(
    Type.STRING,
    "Type of the value.",
    default="String",
    constraints=(AllowedValues(["String", "Number", "CommaDelimitedList", "Json", "Boolean"]),),
)
# Fields of an input of a config.
INPUT: Mapping[str, Property] = {
    "name": Property(Type.STRING, "Name of the input.", required=True),
    "description": Property(Type.STRING, "What the input is for."),
    "type": _TYPE,
    "default": Property(Type.ANY, "Value if none is given."),
    "replace_on_change": Property(
        Type.BOOLEAN,
        "Whether a new value replaces the deployment instead of updating it.",
        default=False,
    ),
}
# Fields of an output of a config.
OUTPUT: Mapping[str, Property] = {
    "name": Property(Type.STRING, "Name of the output.", required=True),
    "description": Property(Type.STRING, "What the output tells."),
    "type": _TYPE,
    "error_output": Property(
        Type.BOOLEAN,
        "Whether a value in this output means that the deployment failed.",
        default=False,
    ),
}
_INPUT_WITH_VALUE = {**INPUT, "value": Property(Type.ANY, "Value that the server gets.")}
# Conversions of values of a type; those of type String may be anything.
_READ: Mapping[str, Callable[[Any], Any]] = {
    "Number": to_number,
    "CommaDelimitedList": to_list_parameter,
    "Json": to_json_parameter,
    "Boolean": to_boolean,
}


class SoftwareConfig(Struct, frozen=True):
    """A config. Name, group and options are whatever JSON their author has sent."""

    id: str
    project_id: str
    created_at: float
    name: Any = None
    group: Any = None
    config: Any = None
    inputs: Sequence[Entry] = ()
    outputs: Sequence[Entry] = ()
    options: Any = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The content; JSON where it is no text."""
        return self.config if isinstance(self.config, str) else json.dumps(self.config)

    def as_metadata(self) -> dict[str, Any]:
        """The config as clients and servers get it."""
        return {
            "id": self.id,
            "name": self.name,
            "group": self.group,
            "creation_time": isoformat(self.created_at),
            "config": self.config,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "options": self.options,
        }


class Deployment(Struct, frozen=True):
    """A config that a server is given, and how far that is."""

    id: str
    project_id: str
    created_at: float
    config_id: str
    server_id: str
    stack_id: str | None = None  # the stack of the resource that created it
    action: Any = None
    status: Any = None
    reason: Any = None
    input_values: Any = field(default_factory=dict)
    output_values: Any = None
    updated_at: float | None = None


_LONGEST_SERVER = 255


def server_fault(server_id: str) -> str | None:
    """Return the fault of the server id of a deployment; None if it is valid."""
    if len(server_id) <= _LONGEST_SERVER and server_id.isprintable():
        return None
    return f"the id of a server has at most {_LONGEST_SERVER} printable characters"


class SoftwareChange(Struct, frozen=True):
    """Configs and deployments to record, and to drop, in one transaction."""

    configs: tuple[SoftwareConfig, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    dropped: tuple[str, ...] = ()  # Ids. A config that a deployment still refers to is kept.
    servers: tuple[str, ...] = ()  # ids of the servers whose deployments this changes


NO_SOFTWARE = SoftwareChange()


def checked_inputs(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """Return inputs in their stored form. Raise ValidationError with the fault and its input."""
    found = [_checked("inputs", i, entry, _INPUT_WITH_VALUE) for i, entry in enumerate(entries)]
    for number, entry in enumerate(found):
        _check_default(number, entry)
        if not entry["replace_on_change"]:
            del entry["replace_on_change"]
    return found


def checked_outputs(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """Return outputs as they are stored. Raises ValidationError with the output and its error."""
    return [_checked("outputs", i, entry, OUTPUT) for i, entry in enumerate(entries)]


def _checked(what: str, number: int, entry: Any, schema: Mapping[str, Property]) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise ValidationError(f"{what}[{number}] is a map with a name, not {type(entry).__name__}.")
    checked = check_properties(entry, schema, (what, number))
    if checked.errors:
        first = checked.errors[0]
        raise ValidationError(f"{format_path(first.path)}: {first.message}")
    values = checked.values
    shown = {name for name in schema if values[name] is not None or entry.get(name) is not None}
    return {name: values[name] for name in schema if name in shown}


def _check_default(number: int, entry: Mapping[str, Any]) -> None:
    read = _READ.get(entry["type"])
    if read is None or "default" not in entry:
        return
    try:
        read(entry["default"])
    except TypeMismatchError as mismatch:
        name = entry["name"]
        raise ValidationError(
            f"inputs[{number}].default: the default of {name}: {mismatch}."
        ) from None
