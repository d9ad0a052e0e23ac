"""Templates that wrap a resource type: its properties as parameters, its attributes as outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.constraints import Custom
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.template.describe.resource_types import visible_attributes, visible_properties
from stoker.template.parameters.constraints import in_cfn, in_hot
from stoker.template.parameters.declarations import APPLICABLE, HOT_TYPES
from stoker.template.parameters.parameters import ParameterType
from stoker.template.versions import HOT, Dialect

STACK_ID = "OS::stack_id"
_TYPES: Mapping[Type, ParameterType] = {
    Type.STRING: ParameterType.STRING,
    Type.INTEGER: ParameterType.NUMBER,
    Type.NUMBER: ParameterType.NUMBER,
    Type.BOOLEAN: ParameterType.BOOLEAN,
    Type.LIST: ParameterType.LIST,
    Type.MAP: ParameterType.JSON,
    Type.ANY: ParameterType.JSON,
}
_HOT_NAMES = {kind: name for name, kind in HOT_TYPES.items()}
_CFN_BOOLEANS = ["True", "true", "False", "false"]


def generate(type_: ResourceType, dialect: Dialect) -> dict[str, Any]:
    """Return a template in a dialect; its resource has the name of the type's class."""
    hot = dialect is HOT
    name = type(type_).__name__
    properties = visible_properties(type_.properties)
    version = ("heat_template_version", "2016-10-14")
    attribute_of, id_of, value_of = "get_attr", "get_resource", _hot_value
    if not hot:
        version = ("HeatTemplateFormatVersion", "2012-12-12")
        attribute_of, id_of, value_of = "Fn::GetAtt", "Ref", _cfn_value
    outputs: dict[str, Any] = {
        attribute: {dialect.value: {attribute_of: [name, attribute]}}
        for attribute in visible_attributes(type_)
    }
    outputs[STACK_ID] = {dialect.value: {id_of: name}}
    return {
        version[0]: version[1],
        dialect.description: f"{type_.type_name} with its properties as parameters",
        dialect.parameters: {
            key: _parameter(declared, dialect) for key, declared in properties.items()
        },
        dialect.resources: {
            name: {
                dialect.type: type_.type_name,
                dialect.properties: {key: value_of(key, p) for key, p in properties.items()},
            }
        },
        dialect.outputs: outputs,
    }


def _hot_value(name: str, declared: Property) -> dict[str, Any]:
    return {"get_param": name}


def _cfn_value(name: str, declared: Property) -> dict[str, Any]:
    if declared.type is Type.LIST:
        return {"Fn::Split": [",", {"Ref": name}]}
    return {"Ref": name}


def _parameter(declared: Property, dialect: Dialect) -> dict[str, Any]:
    kind = _TYPES[declared.type]
    parameter: dict[str, Any] = {dialect.type: _HOT_NAMES[kind] if dialect is HOT else kind.value}
    if declared.description:
        parameter[dialect.description] = declared.description
    if declared.default is not None:
        parameter[dialect.default] = declared.default
    if dialect is HOT:
        # A parameter cannot have the internal constraints of this service.
        suited = (each for each in declared.constraints if kind in APPLICABLE[type(each)])
        constraints = list(map(in_hot, suited))
        return parameter | ({"constraints": constraints} if constraints else {})
    if declared.type is Type.BOOLEAN:
        parameter["AllowedValues"] = _CFN_BOOLEANS
    for constraint in declared.constraints:
        if not isinstance(constraint, Custom):
            parameter |= in_cfn(constraint)
    return parameter
