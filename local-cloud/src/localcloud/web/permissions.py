"""Permissions by role: readers read, members write, administrators do the rest."""

from collections.abc import Callable
from enum import IntEnum

from localcloud.web.http import ForbiddenError, RequestContext


class Access(IntEnum):
    """The requirement that a caller has to meet."""

    READER = 1
    MEMBER = 2
    ADMIN = 3

    @property
    def role(self) -> str:
        """The name of the role."""
        return self.name.lower()


_READING = ("GET", "HEAD")
# Roles that are enough. Administrators are known by more than the name of their role.
_SUFFICIENT = {
    Access.READER: frozenset({"reader", "member"}),
    Access.MEMBER: frozenset({"member"}),
    Access.ADMIN: frozenset[str](),
}


def lacking(caller: RequestContext, method: str, needed: Access | None) -> Access | None:
    """Return the access that a caller lacks for a request, or None if it may be made.

    Where nothing is ``needed`` in particular, readers may read and members may write.
    """
    if needed is None:
        needed = Access.READER if method in _READING else Access.MEMBER
    if caller.is_admin or _SUFFICIENT[needed].intersection(caller.roles):
        return None
    return needed


# Raises `ForbiddenError` if the roles of a caller do not allow the method on the path.
Permit = Callable[[RequestContext, str, str], None]


def by_role(*searches: str) -> Permit:
    """Return the rule that readers may read and members may write.

    A POST to a path below one of ``searches`` only reads.
    """

    def permit(caller: RequestContext, method: str, path: str) -> None:
        reads = method == "POST" and path.startswith(searches)
        if lacks := lacking(caller, method, Access.READER if reads else None):
            raise lacks_role(lacks)

    return permit


def lacks_role(needed: Access) -> ForbiddenError:
    """Return the error for a caller without a role."""
    return ForbiddenError(f"Policy does not allow this request: it needs the role {needed.role}.")


def by_owner(caller: RequestContext, method: str, path: str) -> None:
    """Let every caller in: the service itself decides by the owner of the requested object."""
