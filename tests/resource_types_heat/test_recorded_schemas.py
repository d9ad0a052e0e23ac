"""Types that can be deployed have the properties and attributes that Heat's have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from stoker.resources.base.builtin_types import WITHDRAWN, built_in
from stoker.resources.base.heat_catalog import declarations, declared
from stoker.resources.base.registry import Registry
from stoker.schema.constraints import Constraint
from stoker.schema.properties import Attribute, Property
from stoker.schema.support import SupportStatus

TYPES = Registry()
# Properties with constraints that only Heat has, for its own lookups.
BESIDE = {"OS::Heat::Stack": {("context",): []}}


def at(properties: Any, path: tuple[str, ...]) -> Any:
    """The property at a path of names."""
    first, *rest = path
    return properties[first] if not rest else at(properties[first]["entries"], tuple(rest))


def plain(declared: Property | None) -> Any:
    """Return a property without its texts for readers, and without lookups of names."""
    if declared is None:
        return None
    return {
        "type": declared.type,
        "default": declared.default,
        "required": declared.required,
        "update_allowed": declared.update_allowed,
        "immutable": declared.immutable,
        "constraints": [written(each) for each in declared.constraints],
        "convert": declared.convert,
        "implemented": declared.implemented,
        "support": states(declared.support),
        "entries": plain_all(declared.entries) if declared.entries is not None else None,
        "items": plain(declared.items),
    }


def written(constraint: Constraint) -> Any:
    told = {name: getattr(constraint, name) for name in type(constraint).__match_args__}
    told.pop("budget", None)
    return [type(constraint).__name__, json.dumps(told)]


def plain_all(properties: Mapping[str, Property]) -> Any:
    return {name: plain(each) for name, each in properties.items()}


def states(support: SupportStatus | None) -> Any:
    if support is None:
        return None
    version = support.version and support.version.strip()
    return {"status": support.status, "since": version, "before": states(support.previous)}


def kinds(attributes: Mapping[str, Attribute]) -> Any:
    """The types of attributes; ``show`` is one of every type."""
    return {name: each.type for name, each in attributes.items() if name != "show"}


@pytest.mark.parametrize("name", sorted({*declarations()} & {*built_in()}))
def test_a_type_has_the_schema_that_heat_has(name: str) -> None:
    type_, recorded = TYPES.find(name), declared(name)
    assert type_ is not None
    assert recorded is not None
    own = plain_all(type_.properties)
    for path, constraints in BESIDE.get(name, {}).items():
        at(own, path)["constraints"] = constraints
    assert own == plain_all(recorded.properties)
    assert kinds(type_.attributes) == kinds(recorded.attributes)
    assert states(type_.support) == states(recorded.support)


def test_what_is_withdrawn_is_neither_there_nor_declared() -> None:
    assert not WITHDRAWN.keys() & {*built_in(), *declarations()}
    known = {*built_in(), *declarations(), ""}
    successors = {each for each in WITHDRAWN.values() if not each.startswith("the property")}
    assert successors <= known
