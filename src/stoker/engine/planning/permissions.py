"""Resource types that the policy allows in a stack and in its later nested stacks.

A group gets members when its size is known, a scaling group when it is signalled, without a request
of a user. So a stack stores the facts about its owner, and the policy is checked again when a
nested stack is created or changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.interfaces import Policy
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller
from stoker.kernel.diagnostics import DiagnosticError, Severity
from stoker.kernel.errors import ForbiddenError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation, in_tree
from stoker.template.evaluate.validation import undeployable

OWNER = "owner"  # member of a stack's credentials: facts about its owner for the policy


def owner_facts(caller: Caller) -> Mapping[str, Any]:
    """Return the stored facts about the caller of a create."""
    return {
        "roles": sorted(caller.roles),
        "is_admin": caller.is_admin,
        "user_domain_id": caller.user_domain_id,
        "project_domain_id": caller.project_domain_id,
    }


def owner_of(stack: Stack) -> Caller:
    """Return the caller who created a stack, with the stored facts; without roles if none are."""
    # Stacks of earlier versions have no such facts. Rules that need a role then forbid the type.
    known = stack.credentials.get(OWNER) or {}
    return Caller(
        project_id=stack.project_id,
        user_id=stack.user_id,
        user_name=stack.user_name,
        roles=frozenset(known.get("roles", ())),
        is_admin=bool(known.get("is_admin")),
        user_domain_id=known.get("user_domain_id"),
        project_domain_id=known.get("project_domain_id"),
    )


def require_types(policy: Policy, caller: Caller, evaluation: Evaluation) -> None:
    """Check the types of a template and of its nested ones.

    Raises ForbiddenError for a type that the policy forbids, DiagnosticError for one that cannot be
    deployed.
    """
    names, found = set(), []
    for each in in_tree(evaluation):
        for name, type_ in each.types.items():
            names.add(type_.type_name)
            if type_.undeployable:
                diagnostic = undeployable(each.template, name, type_)
                error = replace(diagnostic, severity=Severity.ERROR)
                found.append(each.template.source.located(error))
    if found:
        raise DiagnosticError(found)
    for name in sorted(names):
        if not policy.allows(f"resource_types:{name}", caller):
            raise ForbiddenError(f"You are not authorized to use {name}. The policy forbids it")
