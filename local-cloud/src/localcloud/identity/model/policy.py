"""Access rules of the identity service.

There are three levels. The administrator of the cloud (role ``admin`` on a project or on the
system) may do everything. The administrator or manager of a domain (that role on the domain)
manages the objects of the domain. Every user may see and change some objects of their own.
"""

from localcloud.identity.model.assignments import Assignments
from localcloud.web.http import STACK_USER, ForbiddenError, RequestContext
from localcloud.web.permissions import Permit

# Roles that are valid in the whole cloud; only its administrator grants them.
CLOUD_ROLES = frozenset({"admin", "service"})
# Roles that the manager of a domain may grant in it.
MANAGED_ROLES = frozenset({"manager", "member", "reader"})


def refuse(action: str) -> ForbiddenError:
    """Return the error for an action that the caller may not take."""
    return ForbiddenError(f"You are not authorized to perform the requested action: {action}.")


def refuse_guests(assignments: Assignments) -> Permit:
    """Return the rule that the users of stacks change nothing but the validity of their own token.

    Their secrets are in servers, so objects that they create here would outlive the server. The
    rule checks all roles of the user, because a token without scope has none.
    """

    def permit(caller: RequestContext, method: str, path: str) -> None:
        if method in ("GET", "HEAD") or (method, path) == ("DELETE", "/v3/auth/tokens"):
            return
        if assignments.role_names(caller.user_id) == {STACK_USER}:
            raise refuse(f"{method} {path}")

    return permit


def require(allowed: bool, action: str) -> None:
    """Raise :class:`ForbiddenError` with the action, unless it is allowed."""
    if not allowed:
        raise refuse(action)


def reads_all(context: RequestContext) -> bool:
    """Return whether the caller may see every object."""
    return context.is_admin or (context.system and "reader" in context.roles)


def is_service(context: RequestContext) -> bool:
    """Return whether the caller is a service, or an administrator."""
    return context.is_admin or "service" in context.roles


def serves(context: RequestContext) -> bool:
    """Return whether the caller may validate the tokens of others."""
    return reads_all(context) or is_service(context)


def administers_domain(context: RequestContext, domain_id: str | None) -> bool:
    """Return whether the caller is an administrator of the cloud or of the domain."""
    own = domain_id is not None and context.domain_id == domain_id
    return context.is_admin or (own and "admin" in context.roles)


def manages_domain(context: RequestContext, domain_id: str | None) -> bool:
    """Return whether the caller may change the objects of the domain."""
    if context.is_admin:
        return True
    own = domain_id is not None and context.domain_id == domain_id
    return own and bool({"admin", "manager"} & set(context.roles))


def reads_domain(context: RequestContext, domain_id: str | None) -> bool:
    """Return whether the caller may see the objects of the domain."""
    own = domain_id is not None and context.domain_id == domain_id
    return reads_all(context) or (own and bool({"admin", "reader"} & set(context.roles)))


def lists_domain_objects(context: RequestContext) -> bool:
    """Return whether the caller may list projects, users and groups, at least of their domain."""
    return reads_all(context) or reads_domain(context, context.domain_id)
