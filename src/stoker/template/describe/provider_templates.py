"""Templates that wrap a resource type: its properties as parameters, its attributes as outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.constraints import Custom
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.template.describe import resource_types as type_documents
from stoker.template.describe.parameters import describe_constraint

STACK_ID = "OS::stack_id"
_HOT_TYPES: Mapping[Type, str] = {
    Type.STRING: "string",
    Type.INTEGER: "number",
    Type.NUMBER: "number",
    Type.BOOLEAN: "boolean",
    Type.LIST: "comma_delimited_list",
    Type.MAP: "json",
    Type.ANY: "json",
}
_CFN_TYPES: Mapping[Type, str] = {
    Type.STRING: "String",
    Type.INTEGER: "Number",
    Type.NUMBER: "Number",
    Type.BOOLEAN: "Boolean",
    Type.LIST: "CommaDelimitedList",
    Type.MAP: "Json",
    Type.ANY: "Json",
}
_CFN_BOOLEANS = ["True", "true", "False", "false"]


def generate_hot(type_: ResourceType) -> dict[str, Any]:
    """A HOT template; the resource is named for the type's class."""
    name = type(type_).__name__
    properties = type_documents.visible_properties(type_.properties)
    outputs: dict[str, Any] = {
        attribute: {"value": {"get_attr": [name, attribute]}}
        for attribute in type_documents.visible_attributes(type_)
    }
    outputs[STACK_ID] = {"value": {"get_resource": name}}
    return {
        "heat_template_version": "2016-10-14",
        "description": f"{type_.type_name} with its properties as parameters",
        "parameters": {key: _hot_parameter(declared) for key, declared in properties.items()},
        "resources": {
            name: {
                "type": type_.type_name,
                "properties": {key: {"get_param": key} for key in properties},
            }
        },
        "outputs": outputs,
    }


def _hot_parameter(declared: Property) -> dict[str, Any]:
    parameter: dict[str, Any] = {"type": _HOT_TYPES[declared.type]}
    if declared.description:
        parameter["description"] = declared.description
    if declared.default is not None:
        parameter["default"] = declared.default
    if declared.constraints:
        parameter["constraints"] = [
            type_documents.describe_constraint(constraint) for constraint in declared.constraints
        ]
    return parameter


def generate_cfn(type_: ResourceType) -> dict[str, Any]:
    """A CloudFormation template; the resource is named for the type's class."""
    name = type(type_).__name__
    properties = type_documents.visible_properties(type_.properties)
    outputs: dict[str, Any] = {
        attribute: {"Value": {"Fn::GetAtt": [name, attribute]}}
        for attribute in type_documents.visible_attributes(type_)
    }
    outputs[STACK_ID] = {"Value": {"Ref": name}}
    return {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Description": f"{type_.type_name} with its properties as parameters",
        "Parameters": {key: _cfn_parameter(declared) for key, declared in properties.items()},
        "Resources": {
            name: {
                "Type": type_.type_name,
                "Properties": {key: _cfn_value(key, value) for key, value in properties.items()},
            }
        },
        "Outputs": outputs,
    }


def _cfn_parameter(declared: Property) -> dict[str, Any]:
    parameter: dict[str, Any] = {"Type": _CFN_TYPES[declared.type]}
    if declared.description:
        parameter["Description"] = declared.description
    if declared.default is not None:
        parameter["Default"] = declared.default
    if declared.type is Type.BOOLEAN:
        parameter["AllowedValues"] = _CFN_BOOLEANS
    for constraint in declared.constraints:
        if not isinstance(constraint, Custom):
            parameter |= describe_constraint(constraint)
    return parameter


def _cfn_value(name: str, declared: Property) -> dict[str, Any]:
    if declared.type is Type.LIST:
        return {"Fn::Split": [",", {"Ref": name}]}
    return {"Ref": name}
