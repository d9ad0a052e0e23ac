"""Bodies of stacks whose texts all have names, so that any of them may be another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_VERSION = {"heat_template_version": "2021-04-16"}
_NESTED = """
heat_template_version: 2021-04-16
parameters: {inner: {type: string}}
resources: {a: {type: OS::Heat::Value, properties: {value: {get_param: inner}}}}
"""
_TEXTS: dict[str, Any] = {
    "template": {
        **_VERSION,
        "description": "$description",
        "parameter_groups": [
            {
                "label": "$group_label",
                "description": "$group_description",
                "parameters": ["$parameter"],
            }
        ],
        "parameters": {
            "$parameter": {
                "type": "string",
                "label": "$label",
                "description": "$parameter_description",
            },
            "with_default": {"type": "string", "default": "$default"},
            "inside": {"type": "string"},
            "number": {"type": "number"},
            "tree": {"type": "json", "default": {"$key": "$leaf"}},
        },
        "conditions": {"$condition": {"equals": ["a", "a"]}},
        "resources": {
            "$resource": {
                "type": "OS::Heat::Value",
                "description": "$resource_description",
                "condition": "$condition",
                "metadata": {"$metadata_key": "$metadata"},
                "properties": {"value": {"get_param": "$parameter"}},
            },
            "second": {
                "type": "OS::Heat::Value",
                "depends_on": ["$resource"],
                "properties": {"value": {"get_file": "$file"}},
            },
            "nested": {"type": "$type", "properties": {"inner": "$property"}},
        },
        "outputs": {
            "$output": {
                "description": "$output_description",
                "value": {"get_attr": ["$resource", "value"]},
            }
        },
    },
    "parameters": {"$parameter": "$value", "number": "$17"},
    "environment": {
        "parameters": {"inside": "$inside"},
        "parameter_defaults": {"$unused": "$unused_value"},
        "resource_registry": {"$type": "nested.yaml"},
    },
    "files": {"nested.yaml": _NESTED, "$file": "$content"},
    "tags": "$tag",
}
_OTHERS: dict[str, Any] = {
    "template": {
        **_VERSION,
        "resources": {
            "outside": {"type": "OS::Heat::Value", "external_id": "$external_id"},
            "config": {
                "type": "OS::Heat::SoftwareConfig",
                "properties": {
                    "group": "$group",
                    "config": "$config",
                    "inputs": [{"name": "$input", "default": "$input_default"}],
                    "outputs": [{"name": "$config_output", "description": "$text"}],
                    "options": {"$option": "$option_value"},
                },
            },
            "deployment": {
                "type": "OS::Heat::SoftwareDeployment",
                "properties": {
                    "config": {"get_resource": "config"},
                    "server": "$server",
                    "name": "$deployment",
                    "signal_transport": "NO_SIGNAL",
                    "input_values": {"$input": "$input_value"},
                },
            },
            "alarm": {
                "type": "OS::Heat::CWLiteAlarm",
                "properties": {
                    "Namespace": "$Namespace",
                    "MetricName": "$MetricName",
                    "AlarmDescription": "$AlarmDescription",
                    "Dimensions": [{"Name": "$dimension", "Value": "$dimension_value"}],
                    "ComparisonOperator": "LessThanThreshold",
                    "EvaluationPeriods": "1",
                    "Period": "60",
                    "Statistic": "Sum",
                    "Threshold": "1",
                },
            },
        },
    }
}
_SHARED: dict[str, Any] = {
    "template": {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "$Description",
        "Mappings": {"$map": {"$first": {"$second": "$found"}}},
        "Resources": {
            "Value": {
                "Type": "OS::Heat::Value",
                "Metadata": {"key": "$Metadata"},
                "Properties": {"value": {"Fn::FindInMap": ["$map", "$first", "$second"]}},
            }
        },
        "Outputs": {"Shared": {"Value": "$shared", "Export": {"Name": "$export"}}},
    }
}


def _places(body: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each name, and a path to it, as a key or as a value."""
    if isinstance(body, str) and body.startswith("$"):
        yield body, path
    elif isinstance(body, Mapping):
        for key, inner in body.items():
            yield from _places(key, path)
            yield from _places(inner, (*path, key.removeprefix("$")))
    elif isinstance(body, list):
        for inner in body:
            yield from _places(inner, path)


def _words(body: Any) -> Mapping[str, set[str]]:
    """Return by name the words that a refusal may use: the name, and its parents."""
    found: dict[str, set[str]] = {}
    for name, path in _places(body):
        found.setdefault(name, {name.removeprefix("$")}).add(path[-1])
    return found


def with_texts(body: Any, values: Mapping[str, Any]) -> Any:
    """The body with values in the places of names; the other texts are their names."""
    if isinstance(body, str):
        return values.get(body, body.removeprefix("$"))
    if isinstance(body, Mapping):
        return {
            str(with_texts(key, values)): with_texts(inner, values) for key, inner in body.items()
        }
    return [with_texts(inner, values) for inner in body] if isinstance(body, list) else body


# Bodies, each with words that a refusal may use for the named texts in it.
STACKS = [(body, _words(body)) for body in (_TEXTS, _OTHERS, _SHARED)]
