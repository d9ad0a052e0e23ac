"""Deletion and update policies of resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.kernel.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    Path,
    Severity,
    did_you_mean,
)
from stoker.schema.conversion import TypeMismatchError
from stoker.schema.creation_policy import required_signals
from stoker.schema.properties import AnyName
from stoker.schema.resource_type import ResourceType, Snapshots, can
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.values import check_properties
from stoker.template.definition import Definition, DeletionPolicy
from stoker.template.versions import Version

# Codes of policies without effect; validation rejects them, although a stack may have them.
UNSUPPORTED = frozenset({"unsupported-deletion-policy", "unsupported-update-policy"})


def deletion_policy(
    value: Any, version: Version, path: Path
) -> tuple[DeletionPolicy, list[Diagnostic]]:
    """Return the written policy, and diagnostics about it."""
    if value is None:
        return DeletionPolicy.DELETE, []
    policies = version.deletion_policies
    if isinstance(value, str) and value in policies:
        return DeletionPolicy(policies[value]), []
    names = {name.lower(): name for name in policies}
    shown = "a value that only exists later" if isinstance(value, Unknown) else repr(value)
    message = f"a deletion policy must be one of {', '.join(sorted(names.values()))}, not {shown}"
    suggestion = did_you_mean(value, policies) if isinstance(value, str) else None
    found = Diagnostic("bad-deletion-policy", message, path, suggestion=suggestion)
    return DeletionPolicy.DELETE, [found]


def policy_diagnostics(definition: Definition, version: Version, path: Path) -> list[Diagnostic]:
    """Return diagnostics about policies that have no effect for the resource's type."""
    found = []
    dialect = version.dialect
    type_ = definition.type
    if definition.deletion_policy is DeletionPolicy.SNAPSHOT and not can(type_, Snapshots):
        message = f"{type_.type_name} cannot be snapshotted"
        place = (*path, dialect.deletion_policy)
        found.append(Diagnostic("unsupported-deletion-policy", message, place, _severity(type_)))
    if definition.update_policy:
        place = (*path, dialect.update_policy)
        found.extend(_update_policy(type_, definition.update_policy, place))
    if definition.creation_policy:
        place = (*path, dialect.creation_policy)
        try:
            required_signals(definition.creation_policy)
        except TypeMismatchError as mismatch:
            found.append(Diagnostic("bad-creation-policy", str(mismatch), place))
    return found


def policy_in_force(definition: Definition) -> Mapping[str, Any]:
    """Return the known parts of the update policy, with default values.

    Raises DiagnosticError for a wrong policy.
    """
    type_, policy = definition.type, definition.update_policy
    if not type_.update_policies:
        return policy
    checked = check_properties(policy, type_.update_policies, ("update_policy",))
    errors = Diagnostics(checked.findings).errors
    if errors:
        raise DiagnosticError(errors)
    known = checked.values.items()
    return {name: value for name, value in known if value is not None and unknown_in(value) is None}


def _update_policy(type_: ResourceType, policy: Mapping[str, Any], path: Path) -> list[Diagnostic]:
    if type_.update_policies:
        return check_properties(policy, type_.update_policies, path).findings
    message = f"{type_.type_name} has no update policies"
    return [
        Diagnostic("unsupported-update-policy", message, (*path, key), _severity(type_))
        for key in policy
    ]


def _severity(type_: ResourceType) -> Severity:
    # A type that accepts all properties replaces another one, and accepts its policies as well.
    return Severity.WARNING if isinstance(type_.properties, AnyName) else Severity.ERROR
