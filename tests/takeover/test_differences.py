"""Named differences permit one thing each; everything else is a fault."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.takeover.proof.differences import differences
from stoker.takeover.records.attribute_paths import whole_attributes
from stoker.takeover.records.identifiers import token_of


def names_of(heat: Any, ours: Any) -> list[str | None]:
    """The rules that permit the differences of two bodies."""
    return [each.name for each in differences(heat, ours)]


def resource(name: str, **fields: Any) -> dict[str, Any]:
    return {"resource_name": name, "physical_resource_id": name, **fields}


@pytest.mark.parametrize(
    ("heat", "ours", "rules"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [None]),
        ({"a": 1}, {}, [None]),
        ({}, {"a": 1}, [None]),
        ({"stacks": [{"id": 1}]}, {"stacks": [{"id": 1, "project": "p"}]}, ["additions"]),
        ({"attributes": {"x": 1}}, {"attributes": {}}, ["attributes"]),
        ({"attributes": {"x": 1}}, {"attributes": {"x": 2}}, [None]),
        ({"attributes": {"x": {"a": 1}}}, {"attributes": {"x": '{"a": 1}'}}, ["attributes"]),
        ({"metadata": {"cooldown_end": {}}}, {"metadata": {}}, ["cooldown"]),
        ({"metadata": {}}, {"metadata": {"cooldown_end": {}}}, [None]),
        ({"resource_registry": {}}, {"resource_registry": {"f": "f"}}, ["registry"]),
        ({"resource_registry": {}}, {"resource_registry": {"f": "g"}}, [None]),
        ({"required_by": ["a", "b"]}, {"required_by": ["b", "a"]}, ["order"]),
        ({"required_by": ["a", "b"]}, {"required_by": ["a"]}, ["chain"]),
        ({"required_by": ["a"]}, {"required_by": ["a", "b"]}, [None]),
        (
            {"resources": [resource("a"), resource("b")]},
            {"resources": [resource("b"), resource("a")]},
            ["order"],
        ),
        ({"events": [{"id": 1}, {"id": 2}]}, {"events": [{"id": 2}, {"id": 1}]}, [None]),
        ({"resources": [resource("a")]}, {"resources": []}, [None]),
        ({"physical_resource_id": "75"}, {"physical_resource_id": "a:b"}, ["link-id"]),
        ({"physical_resource_id": "75"}, {"physical_resource_id": "76"}, [None]),
        ({"s": "UPDATE_IN_PROGRESS"}, {"s": "UPDATE_FAILED"}, ["interrupted"]),
        ({"s": "UPDATE_IN_PROGRESS"}, {"s": "CREATE_FAILED"}, [None]),
        (
            {"stack_status_reason": "Stack UPDATE started"},
            {"stack_status_reason": "interrupted by the take-over"},
            ["interrupted"],
        ),
    ],
)
def test_difference_has_its_rule(heat: Any, ours: Any, rules: list[str | None]) -> None:
    assert names_of(heat, ours) == rules


def test_stored_paths_become_attributes() -> None:
    stored = {
        "plain": 1,
        "tuple:('addresses', 'net', 1, 'addr')": "10.0.0.2",
        "tuple:('addresses', 'net', 0, 'addr')": "10.0.0.1",
        "tuple:('resource.0', 'mac_address')": "fa:16",
    }
    assert whole_attributes(stored, None) == {
        "plain": 1,
        "addresses": {"net": [{"addr": "10.0.0.1"}, {"addr": "10.0.0.2"}]},
        "resource.0.mac_address": "fa:16",
    }


def test_token_follows_from_the_uuid() -> None:
    """Heat's object cfn-S-vsw6kq5wpdic belongs to the resource with this UUID."""
    assert token_of("3b678d02-de54-4aca-a3fa-3296272c0d7b") == "vsw6kq5wpdic"
