"""What compute asks of images: whether a server can be made of one, and its root file system."""

from pathlib import Path

from localcloud.cloud import Cloud
from localcloud.http import BadRequest, NotFound, RequestContext
from localcloud.image.images import Images as AllImages
from localcloud.image.roots import Roots, UnusableImage
from localcloud.store import Document


class Images:
    """The images of the cloud, as servers need them."""

    def __init__(self, cloud: Cloud) -> None:
        self.all = cloud.one(AllImages)
        self._roots = cloud.one(Roots)

    def check_bootable(self, context: RequestContext, image_id: str, flavor: Document) -> None:
        """Raise :class:`BadRequest` where the caller cannot boot this flavor from the image."""
        try:
            image = self.all.visible(context, image_id)
        except NotFound:
            raise BadRequest(f"Can not find requested image {image_id}") from None
        if image["status"] != "active":
            raise BadRequest(f"Image {image_id} is not active.")
        if image["min_ram"] > flavor["ram"]:
            raise BadRequest("Flavor's memory is too small for requested image.")
        if flavor["disk"] and image["min_disk"] > flavor["disk"]:
            raise BadRequest(
                f"Flavor's disk is too small for requested image: {flavor['disk']} GiB, "
                f"and the image needs {image['min_disk']} GiB."
            )

    async def root(self, image_id: str) -> Path | None:
        """Return the root file system; None for the built-in image.

        Raises :class:`BadRequest` where no server can be made of the image.
        """
        try:
            return await self._roots.root(image_id)
        except UnusableImage as error:
            raise BadRequest(str(error)) from error
