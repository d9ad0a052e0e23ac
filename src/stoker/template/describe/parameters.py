"""Parameters and environments in the API's notation, ready for JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.schema.unknown import Unknown
from stoker.template.environment.environment import Environment, stored
from stoker.template.evaluate.inputs import PSEUDO
from stoker.template.parameters.constraints import in_cfn
from stoker.template.parameters.parameters import HIDDEN_VALUE, Parameter, ParameterType, chosen


def shown_parameters(
    parameters: Mapping[str, Parameter],
    values: Mapping[str, Any],
    specified: Mapping[str, Any],
    pseudo: Mapping[str, Any],
) -> dict[str, str]:
    """Return the parameters of a stack as text, with hidden ones masked.

    ``values`` are the resolved ones, ``specified`` the raw ones: a list that was given as text
    is shown as that text.
    """
    shown = {name: str(value) for name, value in pseudo.items()}
    for name, parameter in parameters.items():
        if name in values:
            shown[name] = (
                HIDDEN_VALUE if parameter.hidden else _text(parameter, values[name], specified)
            )
    return shown


def _text(parameter: Parameter, value: Any, specified: Mapping[str, Any]) -> str:
    if isinstance(value, Unknown):
        return str(value)
    match parameter.type:
        case ParameterType.JSON:
            return json.dumps(value, default=str)
        case ParameterType.LIST:
            raw = chosen(parameter, specified, {})
            return raw if isinstance(raw, str) else ",".join(str(item) for item in value)
        case _:
            return str(value)


def described_parameters(
    parameters: Mapping[str, Parameter],
    specified: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> dict[str, dict[str, Any]]:
    """Return the declarations for the response of a validation."""
    return {
        name: describe_parameter(parameter, specified.get(name), defaults.get(name))
        for name, parameter in parameters.items()
        if name not in PSEUDO
    }


def describe_parameter(parameter: Parameter, value: Any, default: Any) -> dict[str, Any]:
    """Return one declaration, without empty values, zero and false."""
    described: dict[str, Any] = {
        "Type": parameter.type.value,
        "Description": parameter.description,
        "NoEcho": "true" if parameter.hidden else "false",
        "Label": parameter.label or parameter.name,
    }
    if default is None:
        default = parameter.default
    if default is not None:
        described["Default"] = default
    if value:
        described["Value"] = value
    if parameter.tags is not None:
        described["Tags"] = list(parameter.tags)
    descriptions = []
    for constraint in parameter.constraints:
        described |= in_cfn(constraint)
        if constraint.description:
            descriptions.append(constraint.description)
    if descriptions:
        described["ConstraintDescription"] = " ".join(descriptions)
    return described


def environment_of_validation(
    environment: Environment, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the environment for the response of a validation, with the request's values."""
    view = stored(environment.with_parameters(parameters))
    del view["encrypted_param_names"]
    return view


def environment_of_stack(
    environment: Environment,
    parameters: Mapping[str, Parameter],
    learned: Mapping[str, str] | None = None,
    nested: Iterable[Mapping[str, Parameter]] = (),
) -> dict[str, Any]:
    """Return the environment of a stack with the values of hidden parameters masked.

    ``parameters`` are those of the stack, ``nested`` those of its nested stacks, to which defaults
    apply as well. ``learned`` contains types that entries for single resources, or globs, name.
    """
    view = stored(environment)
    view["resource_registry"] |= learned or {}
    declared = {"parameters": (parameters,), "parameter_defaults": (parameters, *nested)}
    for section, declarations in declared.items():
        hidden = {name for each in declarations for name in each if each[name].hidden}
        view[section] = {
            name: HIDDEN_VALUE if name in hidden else value for name, value in view[section].items()
        }
    return view
