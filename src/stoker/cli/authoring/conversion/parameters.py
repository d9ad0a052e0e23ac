"""Converts declarations of parameters in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.cli.authoring.conversion.losses import Losses, list_in
from stoker.kernel.diagnostics import Path

_TYPES = {
    "string": "String",
    "number": "Number",
    "comma_delimited_list": "CommaDelimitedList",
    "json": "Json",
    "boolean": "Boolean",
}
_HOT_TYPES = {cfn: hot for hot, cfn in _TYPES.items()}
_KEYS = {"default": "Default", "description": "Description", "label": "Label", "hidden": "NoEcho"}
_BOUNDS = {"length": ("MinLength", "MaxLength"), "range": ("MinValue", "MaxValue")}
_SINGLE = {
    "allowed_values": "AllowedValues",
    "allowed_pattern": "AllowedPattern",
    "custom_constraint": "CustomConstraint",
}
# Types of AWS whose values are names of objects.
_OBJECTS = {
    "AWS::EC2::Image::Id": "glance.image",
    "AWS::EC2::Instance::Id": "nova.server",
    "AWS::EC2::KeyPair::KeyName": "nova.keypair",
    "AWS::EC2::SecurityGroup::Id": "neutron.security_group",
    "AWS::EC2::SecurityGroup::GroupName": "neutron.security_group",
    "AWS::EC2::Subnet::Id": "neutron.subnet",
    "AWS::EC2::VPC::Id": "neutron.network",
    "AWS::EC2::Volume::Id": "cinder.volume",
}


def to_cfn(written: Mapping[str, Any], path: Path, losses: Losses) -> dict[str, Any]:
    """Return a declaration of CloudFormation."""
    made: dict[str, Any] = {"Type": _TYPES.get(str(written.get("type")), "String")}
    for key, value in written.items():
        if key in _KEYS:
            made[_KEYS[key]] = value
        elif key not in ("type", "constraints"):
            losses.add((*path, key), f'CloudFormation has no "{key}" of parameters')
    for index, constraint in enumerate(list_in(written, "constraints", path, losses)):
        if isinstance(constraint, Mapping):
            _constrain(made, constraint, (*path, "constraints", index), losses)
    return made


def _constrain(
    made: dict[str, Any], constraint: Mapping[str, Any], path: Path, losses: Losses
) -> None:
    for kind, value in constraint.items():
        keys: dict[str, Any] = {}
        if kind in _SINGLE:
            keys[_SINGLE[kind]] = value
        elif kind in _BOUNDS and isinstance(value, Mapping):
            low, high = _BOUNDS[kind]
            keys = {low: value.get("min"), high: value.get("max")}
        elif kind == "description":
            keys["ConstraintDescription"] = value
        else:
            losses.add(path, f"CloudFormation has no constraint {kind}")
        keys = {key: each for key, each in keys.items() if each is not None}
        if kind != "description" and not made.keys().isdisjoint(keys):
            losses.add(path, "CloudFormation has each constraint once: the first one is kept")
            continue
        made.update({key: each for key, each in keys.items() if key not in made})


def to_hot(written: Mapping[str, Any], path: Path, losses: Losses) -> dict[str, Any]:
    """Return a declaration of HOT."""
    kind = str(written.get("Type"))
    made: dict[str, Any] = {"type": _HOT_TYPES.get(kind, "string")}
    constraints = list(_constraints(written))
    if kind in _OBJECTS:
        constraints.append({"custom_constraint": _OBJECTS[kind]})
    elif kind.startswith("List<"):
        made["type"] = "comma_delimited_list"
    elif kind not in _HOT_TYPES and kind != "AWS::EC2::AvailabilityZone::Name":
        losses.add((*path, "Type"), f"there is no type {kind}: it is a text in the result")
    for hot, cfn in _KEYS.items():
        if cfn in written:
            made[hot] = _flag(written[cfn]) if hot == "hidden" else written[cfn]
    if constraints:
        made["constraints"] = constraints
    return made


def _flag(value: Any) -> bool:
    return str(value).lower() == "true"


def _constraints(written: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    text = written.get("ConstraintDescription")
    description = {} if text is None else {"description": text}
    for kind, (low, high) in _BOUNDS.items():
        bounds = {"min": written.get(low), "max": written.get(high)}
        bounds = {key: _number(value) for key, value in bounds.items() if value is not None}
        if bounds:
            yield {kind: bounds, **description}
    for kind, key in _SINGLE.items():
        if key in written:
            yield {kind: written[key], **description}


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        try:
            return float(value)
        except ValueError:
            return value
