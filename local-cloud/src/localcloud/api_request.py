"""What handlers of several services ask of a request, and who may make it."""

from dataclasses import dataclass
from enum import IntEnum

from starlette.requests import Request

from localcloud.http import RequestContext, boolean


class Access(IntEnum):
    """What a caller must be."""

    READER = 0
    MEMBER = 1
    ADMIN = 2

    @property
    def role(self) -> str:
        """The name of the role."""
        return self.name.lower()


def lacking(caller: RequestContext, method: str, needed: Access | None) -> Access | None:
    """Return what the caller would have to be for a request, or None if it may be made.

    Where nothing is ``needed`` in particular, readers may read and members may write.
    """
    if needed is None:
        needed = Access.READER if method == "GET" else Access.MEMBER
    if caller.is_admin or needed is Access.READER:
        return None
    member = needed is Access.MEMBER and "member" in caller.roles
    return None if member else needed


@dataclass(frozen=True)
class ApiRequest:
    """A request whose body has been read."""

    request: Request
    context: RequestContext
    content: bytes
    """The body, read before anything is looked up: what a handler gets is of the same moment."""

    def argument(self, key: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[key])

    def query(self, key: str) -> str | None:
        """Return a value of the query string."""
        return self.request.query_params.get(key)

    def flag(self, key: str) -> bool:
        """Return a boolean of the query string; false where it is missing."""
        asked = self.query(key)
        return asked is not None and boolean(asked)
