"""Access to secrets, containers and orders."""

from localcloud.core.store import Document
from localcloud.web.http import ForbiddenError, RequestContext


def require(allowed: bool, operation: str) -> None:
    """Raise :class:`ForbiddenError`, naming the operation, unless it is allowed."""
    if not allowed:
        raise ForbiddenError(
            f"{operation} attempt not allowed - please review your user/project privileges"
        )


def is_member(who: RequestContext, operation: str) -> str:
    """Return the caller's project; raises ForbiddenError for who may only read in it, or has
    none.
    """
    require("member" in who.roles and who.project_id is not None, operation)
    return who.require_project()


def may_use(who: RequestContext, found: Document) -> bool:
    """Return whether the caller may change an object and read its payload.

    A private object belongs to its creator and to the administrator of the project.
    """
    if who.project_id != found["project_id"]:
        return False
    is_own = found["creator_id"] == who.user_id
    private = found["acl"].get("read", {}).get("project-access") is False
    return "admin" in who.roles or ("member" in who.roles and (is_own or not private))


def may_read(who: RequestContext, found: Document) -> bool:
    """Return whether the caller may read the payload of a secret."""
    return may_use(who, found) or who.user_id in found["acl"].get("read", {}).get("users", ())


def may_see(who: RequestContext, found: Document) -> bool:
    """Return whether the caller may see that something is there."""
    return who.is_admin or may_read(who, found)


def may_delete(who: RequestContext, found: Document) -> bool:
    """Return whether the caller may delete something."""
    return who.is_admin or may_use(who, found)
