"""The API of shared file systems, version 2, as the application mounts it."""

import re
from functools import cached_property

from localcloud.core.cloud import LazyService
from localcloud.core.store import Document
from localcloud.fabric.exports import MountRequest
from localcloud.web.http import nova_error, without_trailing_slash
from localcloud.web.microversions import SHARED_FILE_SYSTEM

_PROJECT = re.compile(r"/v2/[0-9a-f]{32}(?=/|$)")
_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.share+json;version=1"}


class SharedFileSystemService(LazyService):
    """Manila. It loads with the first request of a client, or the first mount of a server."""

    type = "shared-file-system"
    name = "manila"
    prefix = "/share"
    endpoint = "/share/v2"
    other_types = ("sharev2",)
    choice_paths = ("/",)
    api_module = "localcloud.shared_file_system.api.endpoints"
    instance_module = "localcloud.shared_file_system.instance"
    render = staticmethod(nova_error)

    @cached_property
    def version(self) -> Document:
        return {
            "id": "v2.0",
            "status": "CURRENT",
            "version": SHARED_FILE_SYSTEM.latest,
            "min_version": SHARED_FILE_SYSTEM.first,
            "updated": "2015-08-27T11:33:21Z",
            "links": [{"rel": "self", "href": f"{self.url}/v2/"}],
            "media-types": [_MEDIA],
        }

    @cached_property
    def documents(self) -> Document:
        versions = {"versions": [self.version]}
        return {"/": versions, "/v2": versions}

    def normalize(self, path: str) -> str:
        # Clients may write their project ID after the version; the token names it anyway.
        return _PROJECT.sub("/v2", without_trailing_slash(path)) or "/"

    async def start(self) -> None:
        async def mount(request: MountRequest) -> None:
            await self.instance.exports.mount(request)

        self.cloud.fabric.exports.mount = mount
