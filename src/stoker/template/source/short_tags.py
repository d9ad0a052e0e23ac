"""The YAML short forms of CloudFormation's functions, as ``!GetAtt server.Arn``."""

from __future__ import annotations

from typing import Any

_SHORT = frozenset(
    {
        "And", "Base64", "Cidr", "Equals", "FindInMap", "GetAZs", "GetAtt", "If", "Join",
        "Length", "MemberListToMap", "Not", "Or", "Replace", "ResourceFacade", "Select", "Split",
        "Sub", "ToJsonString",
    }
)  # fmt: skip


def short_tag(tag: str, value: Any) -> dict[str, Any] | None:
    """The function call that a tag abbreviates, as ``{"Fn::Sub": value}``, or None."""
    name = tag.removeprefix("!")
    if tag == name:
        return None
    if name in ("Ref", "Condition"):
        return {name: value}
    if name == "GetAtt" and isinstance(value, str):
        resource, _, attribute = value.partition(".")
        value = [resource, attribute]
    return {f"Fn::{name}": value} if name in _SHORT else None
