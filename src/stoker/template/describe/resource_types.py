"""A resource type as the API describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.constraints import is_own
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support, SupportStatus
from stoker.template.parameters.constraints import in_hot

# The attribute that every type has.
SHOW = Attribute("All that the cloud tells of the object.", Type.MAP)


def visible_properties(properties: Mapping[str, Property]) -> dict[str, Property]:
    """Return the properties shown to users: neither hidden nor unimplemented."""
    return {
        name: declared
        for name, declared in properties.items()
        if declared.implemented and declared.support.status is not Support.HIDDEN
    }


def visible_attributes(type_: ResourceType) -> dict[str, Attribute]:
    """Return the attributes shown to users, including those of every type."""
    declared = {
        name: attribute
        for name, attribute in type_.attributes.items()
        if attribute.support.status is not Support.HIDDEN
    }
    return {**declared, "show": declared.get("show", SHOW)}


def describe_type(type_: ResourceType, *, with_description: bool) -> dict[str, Any]:
    """Return properties, attributes and support of a type."""
    described: dict[str, Any] = {
        "resource_type": type_.type_name,
        "properties": _describe_properties(visible_properties(type_.properties)),
        "attributes": {
            name: _describe_attribute(attribute)
            for name, attribute in visible_attributes(type_).items()
        },
        "support_status": _describe_support(type_.support),
    }
    if with_description:
        described["description"] = type_.description
    return described


def _describe_properties(properties: Mapping[str, Property]) -> dict[str, Any]:
    """Return declarations by name, including hidden ones inside a property."""
    return {name: _describe_property(declared) for name, declared in properties.items()}


def _describe_property(declared: Property) -> dict[str, Any]:
    described: dict[str, Any] = {"type": declared.type.value}
    if declared.default is not None:
        described["default"] = declared.default
    if declared.entries is not None:
        described["schema"] = _describe_properties(declared.entries)
    elif declared.items is not None:
        described["schema"] = {"*": _describe_property(declared.items)}
    described["required"] = declared.required
    if declared.description:
        described["description"] = declared.description
    # Internal checks of this service are not shown to users.
    constraints = [in_hot(each) for each in declared.constraints if not is_own(each)]
    if constraints:
        described["constraints"] = constraints
    described["update_allowed"] = declared.update_allowed
    described["immutable"] = declared.immutable
    return described


def _describe_attribute(attribute: Attribute) -> dict[str, Any]:
    described = {"description": attribute.description} if attribute.description else {}
    if attribute.type is not None:
        described["type"] = attribute.type.value
    return described


def _describe_support(support: SupportStatus) -> dict[str, Any]:
    previous = support.previous
    return {
        "status": support.status.value,
        "message": support.message,
        "version": support.version,
        "previous_status": None if previous is None else _describe_support(previous),
    }
