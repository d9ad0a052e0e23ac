"""One request on the object store: its account, container, object and caller."""

from collections.abc import Mapping

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.requests import Request

from localcloud.web.http import RequestContext


class Grant(Struct, frozen=True):
    """The rights of a temporary URL: everything below an account or a container, for this call."""

    scope: str
    expires: str  # as headers show it


class Call(Struct, frozen=True):
    """A request with its path taken apart."""

    request: Request
    account: str
    container: str
    object: str
    who: RequestContext | None  # None without a valid token
    grant: Grant | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, a character for each byte."""
        return self.request.headers

    @property
    def query(self) -> QueryParams:
        """The parameters."""
        return self.request.query_params

    @property
    def method(self) -> str:
        """The method."""
        return self.request.method

    @property
    def container_id(self) -> str:
        """The key of the container's record."""
        return f"{self.account}/{self.container}"

    @property
    def object_id(self) -> str:
        """The key of the object's record."""
        return f"{self.account}/{self.container}/{self.object}"
