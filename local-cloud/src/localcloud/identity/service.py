"""The identity API, version 3."""

from functools import cached_property

from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.identity.bootstrap import bootstrap
from localcloud.identity.identity import Identity, identity_of
from localcloud.identity.model import policy
from localcloud.web.http import keystone_error

_OPEN = frozenset({("GET", "/"), ("HEAD", "/"), ("GET", "/v3"), ("HEAD", "/v3")})


class IdentityService(LazyService):
    """Keystone."""

    type = "identity"
    name = "keystone"
    prefix = endpoint = "/identity"
    choice_paths = ("/",)
    api_module = "localcloud.identity.api.endpoints"
    render = staticmethod(keystone_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self._identity = identity_of(cloud.store, cloud.clock, cloud.settings)
        self.permit = policy.refuse_guests(self._identity.assignments)

    @cached_property
    def version(self) -> Document:
        media = {"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}
        return {
            "id": "v3.14",
            "status": "stable",
            "updated": "2020-04-07T00:00:00Z",
            "links": [{"rel": "self", "href": f"{self.url}/v3/"}],
            "media-types": [media],
        }

    @cached_property
    def documents(self) -> Document:
        return {"/": {"versions": {"values": [self.version]}}, "/v3": {"version": self.version}}

    @cached_property
    def instance(self) -> Identity:
        return self._identity

    def is_public(self, method: str, path: str) -> bool:
        if method == "POST":
            own_password = path.startswith("/v3/users/") and path.endswith("/password")
            return path == "/v3/auth/tokens" or own_password
        return (method, path) in _OPEN

    async def start(self) -> None:
        bootstrap(self._identity.directory, self.cloud.services)

    async def stop(self) -> None:
        """Stop nothing: identity does all its work within requests."""
