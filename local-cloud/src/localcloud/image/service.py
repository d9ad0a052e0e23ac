"""The image API, version 2, as the application mounts it.

Imports run in the background, in :class:`localcloud.image.jobs.Imports`, which loads with the
API, and at the start of a cloud that has unfinished ones.
"""

from functools import cached_property

from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.presentation import UNFINISHED
from localcloud.web.http import glance_error

_VERSIONS = tuple(f"v2.{minor}" for minor in (17, 16, 15, 9, 7, 6, 5, 4, 3, 2, 1, 0))


class ImageService(LazyService):
    """Glance."""

    type = "image"
    name = "glance"
    prefix = endpoint = "/image"
    choice_paths = ("/", "/versions")
    api_module = "localcloud.image.api.endpoints"
    instance_module = "localcloud.image.jobs"
    render = staticmethod(glance_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self._images = cloud.one(Images)

    @cached_property
    def version(self) -> Document:
        return self._version(_VERSIONS[0])

    @cached_property
    def documents(self) -> Document:
        versions = {"versions": [self._version(name) for name in _VERSIONS]}
        return {"/": versions, "/versions": versions}

    def _version(self, name: str) -> Document:
        status = "CURRENT" if name == _VERSIONS[0] else "SUPPORTED"
        return {"id": name, "status": status, "links": [{"rel": "self", "href": f"{self.url}/v2/"}]}

    def has_unfinished_work(self) -> bool:
        return any(task["status"] in UNFINISHED for task in self._images.tasks.values())

    async def start(self) -> None:
        self._images.start()
        if self.has_unfinished_work():
            self.instance.resume()
