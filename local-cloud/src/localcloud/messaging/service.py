"""The messaging API, version 2, as the application mounts it."""

from functools import cached_property

from localcloud.core.cloud import LazyService
from localcloud.core.store import Document
from localcloud.messaging.errors import zaqar_error

_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.messaging-v2+json"}


class MessagingService(LazyService):
    """Zaqar. It checks tokens itself, because a request may carry a signature instead of one."""

    type = "messaging"
    name = "zaqar"
    prefix = endpoint = "/messaging"
    choice_paths = ("/",)
    api_module = "localcloud.messaging.api.endpoints"
    instance_module = "localcloud.messaging.instance"
    render = staticmethod(zaqar_error)

    @cached_property
    def version(self) -> Document:
        return {
            "id": "2",
            "status": "CURRENT",
            "updated": "2014-9-24T04:06:47Z",
            "media-types": [_MEDIA],
            "links": [{"rel": "self", "href": f"{self.url}/v2/"}],
        }

    @cached_property
    def documents(self) -> Document:
        versions = {"versions": [self.version]}
        return {"/": versions, "/v2": versions}

    def is_public(self, method: str, path: str) -> bool:
        return True
