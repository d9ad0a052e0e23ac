"""Inputs of the evaluation of one template."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from stoker.kernel.addresses import StackAddress
from stoker.kernel.json.tree import same, same_by_marshal
from stoker.template.environment.environment import EMPTY, Environment
from stoker.template.functions.budget import Budget
from stoker.template.functions.scope import Facade, Imports
from stoker.template.versions import HOT, VERSIONS, Version, may_be_template

MAX_NESTED_DEPTH = 5
_ABSENT = object()


class Identity(Struct, frozen=True):
    """The stack that a template is evaluated for; before there is one, an id of all zeros."""

    stack_name: str = "stack"
    stack_id: str = "00000000-0000-0000-0000-000000000000"
    project_id: str = ""
    region: str | None = None
    arn: str | None = None  # value of ``AWS::StackId``; None to build it from name and id


@dataclass(frozen=True, slots=True)
class Inputs:
    """All inputs of an evaluation other than the template."""

    identity: Identity = field(default_factory=Identity)
    environment: Environment = EMPTY
    # Values for the stack; they take precedence over the environment.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    unreachable: Mapping[str, str] = field(default_factory=dict)  # fetch errors by URL
    # Environment of the whole service, below the stack's own.
    service_environment: Environment = EMPTY
    facade: Facade | None = None  # the resource in the parent template, if this template is nested
    depth: int = 0  # number of templates above this one
    max_depth: int = MAX_NESTED_DEPTH
    # The limits of the evaluation, shared with nested templates.
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)
    # Value of conditions while parameters have no values; None: parameters must have values.
    assumed_conditions: bool | None = None
    url: str | None = None  # URL of the template, which relative names in it refer to
    # Exports of other stacks, for nested templates, too.
    imports: Imports = field(default_factory=Imports, compare=False, repr=False)

    def specified(self, declared: Container[str]) -> dict[str, Any]:
        """Return the given values of parameters, by name."""
        # Values for the whole service apply only to parameters that the root template declares. No
        # template has to use all of them, and an undeclared one would otherwise be an error.
        whole = {} if self.depth else self.service_environment.parameters
        known = {name: value for name, value in whole.items() if name in declared}
        return {**known, **self.environment.parameters, **self.parameters}

    @property
    def parameter_defaults(self) -> Mapping[str, Any]:
        """Return default values of parameters, which apply at every depth."""
        whole, own = self.service_environment.parameter_defaults, self.environment
        return {**whole, **own.parameter_defaults} if whole else own.parameter_defaults


def pseudo_parameters(version: Version, identity: Identity) -> dict[str, Any]:
    """Return the parameters that every template has."""
    if version.dialect is HOT:
        return {
            "OS::stack_name": identity.stack_name,
            "OS::stack_id": identity.stack_id,
            "OS::project_id": identity.project_id,
        }
    return {
        "AWS::Region": "ap-southeast-1",
        "AWS::StackId": identity.arn
        or StackAddress(identity.project_id, identity.stack_name, identity.stack_id).arn,
        "AWS::StackName": identity.stack_name,
    }


# Names of the parameters that every template has, in either dialect.
PSEUDO = frozenset(name for version in VERSIONS for name in pseudo_parameters(version, Identity()))


def are_same(one: Inputs, other: Inputs) -> bool:
    """Return whether a template has the same evaluation with these inputs.

    Python treats 1, 1.0 and True as equal, but functions of templates do not.
    """
    values, environments = [], []
    for each in (one, other):
        facade, environment = each.facade, each.environment
        parts = [] if facade is None else [getattr(facade, f) for f in Facade.__struct_fields__]
        values.append([dict(each.parameters), dict(each.imports.values), parts])
        environments.append([getattr(environment, f) for f in Environment.__struct_fields__])
    return (
        one.identity == other.identity
        and (one.depth, one.max_depth, one.url) == (other.depth, other.max_depth, other.url)
        and one.assumed_conditions is other.assumed_conditions
        and one.service_environment is other.service_environment
        and one.files == other.files
        and one.unreachable == other.unreachable
        and same(*values)
        and same(*environments)
    )


def find_same_types(one: Inputs, other: Inputs) -> bool:
    """Return whether type names lead to the same types and templates with these inputs.

    The templates may declare parameters whose defaults differ. Files that are no templates may
    differ, too: as a type, such a file is an error in either case.
    """
    return (
        one.url == other.url
        and one.unreachable == other.unreachable
        and all(
            same_by_marshal(before.resource_registry, after.resource_registry)
            for before, after in (
                (one.service_environment, other.service_environment),
                (one.environment, other.environment),
            )
        )
        and _have_same_templates(one.files, other.files)
    )


def _have_same_templates(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    if one is other:
        return True
    if one.keys() != other.keys():
        return False
    changed = [name for name, text in one.items() if other[name] != text]
    return not any(may_be_template(files[name]) for name in changed for files in (one, other))


def changed_defaults(one: Inputs, other: Inputs) -> frozenset[str]:
    """Return the parameters with different values in the ``parameter_defaults``."""
    before, after = one.parameter_defaults, other.parameter_defaults
    return frozenset(
        name
        for name in before.keys() | after.keys()
        if not same(before.get(name, _ABSENT), after.get(name, _ABSENT))
    )
