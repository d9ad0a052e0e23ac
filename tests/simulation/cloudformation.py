"""CloudFormation templates; only they export values. The checks know those of Heat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "type": "Type",
    "properties": "Properties",
    "depends_on": "DependsOn",
    "get_resource": "Ref",
    "get_attr": "Fn::GetAtt",
}
_BACK = {theirs: ours for ours, theirs in _WORDS.items()}


def exporting(template: Mapping[str, Any], exports: Mapping[str, str]) -> dict[str, Any]:
    """The template with exports: the values of these resources, by the names of the exports."""
    outputs = {
        f"O{number}": {"Value": {"Fn::GetAtt": [resource, "value"]}, "Export": {"Name": name}}
        for number, (name, resource) in enumerate(exports.items())
    }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": _renamed(template["resources"], _WORDS),
        "Outputs": outputs,
    }


def resources_of(template: Mapping[str, Any]) -> dict[str, Any]:
    """The resources of a template, in the words of Heat."""
    if "Resources" in template:
        return dict(_renamed(template["Resources"], _BACK))
    return dict(template["resources"])


def exports_of(template: Mapping[str, Any]) -> frozenset[str]:
    """The names under which it exports values."""
    outputs = template.get("Outputs") or {}
    return frozenset(each["Export"]["Name"] for each in outputs.values() if "Export" in each)


def _renamed(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {words.get(key, key): _renamed(inner, words) for key, inner in value.items()}
    return [_renamed(inner, words) for inner in value] if isinstance(value, list) else value
