"""Builds callers from tokens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.engine.model.requests import Caller
from stoker.identity.grants import Grant
from stoker.identity.settings import IdentitySettings

# Returns whether credentials, in the terms of policies, are those of an administrator.
IsAdmin = Callable[[Mapping[str, Any]], Awaitable[bool]]


async def caller_of(grant: Grant, settings: IdentitySettings, is_admin: IsAdmin) -> Caller:
    """Return the caller of a token. The project is empty for unscoped tokens."""
    user = grant.body["user"]
    project = grant.body.get("project", {})
    roles, trust = grant.roles, grant.body.get("OS-TRUST:trust", {})
    return Caller(
        project_id=grant.project_id,
        user_id=grant.user_id,
        user_name=str(user.get("name", "")),
        roles=frozenset(roles),
        is_admin=await is_admin(credentials_of(grant)),
        token=grant.token,
        is_stack_user=settings.stack_user_role in roles,
        project_name=str(project.get("name", "")),
        user_domain_id=user.get("domain", {}).get("id"),
        project_domain_id=project.get("domain", {}).get("id"),
        trust_id=trust.get("id"),
        trustee_id=trust.get("trustee_user", {}).get("id"),
    )


def credentials_of(grant: Grant) -> dict[str, Any]:
    """Return the content of a token in the terms of policies."""
    return {
        "user_id": grant.user_id,
        "project_id": grant.project_id,
        "domain_id": grant.domain_id or None,
        "system_scope": "all" if grant.body.get("system", {}).get("all") else None,
        "roles": grant.roles,
        "is_admin_project": grant.body.get("is_admin_project", True),
    }
