"""Imports of images with the ``openstack image`` commands and openstacksdk."""

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., list[Any]]

# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
_DATA = b"what an image has" * 5000
_SUM = hashlib.md5(_DATA, usedforsecurity=False).hexdigest()


def _tasks(demo: Any, image: Any) -> list[dict[str, Any]]:
    answer = demo.image.get(f"/images/{image.id}/tasks").json()
    tasks: list[dict[str, Any]] = answer["tasks"]
    return tasks


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(_DATA)
    return path


@pytest.fixture
def queued(demo: Any) -> Iterator[Any]:
    """An image without data. The command would take the words of its own input for them."""
    image = demo.image.create_image(
        name="queued", disk_format="raw", container_format="bare", visibility="private"
    )
    assert image.status == "queued"
    yield image
    demo.image.delete_image(image)


def test_an_image_is_staged_and_imported(
    demo: Any, openstack: Run, queued: Any, data: Path
) -> None:
    methods, _, staged, imported = openstack(
        "image import info",
        f"image stage --file {data} {queued.id}",
        f"image show {queued.id}",
        f"image import --method glance-direct {queued.id}",
    )
    assert "glance-direct, web-download" in methods
    assert (staged["status"], staged["size"]) == ("uploading", len(_DATA))
    assert f"| {queued.id}" in imported
    image = demo.image.wait_for_status(queued, "active", interval=0.1, wait=20)
    assert (image.checksum, image.size) == (_SUM, len(_DATA))
    assert demo.image.download_image(image).content == _DATA


def test_create_import_stages_and_imports_together(demo: Any, openstack: Run, data: Path) -> None:
    (made,) = openstack(
        f"image create --import --disk-format raw --container-format bare --file {data} made"
    )
    image = demo.image.get_image(made["id"])
    assert demo.image.wait_for_status(image, "active", interval=0.1, wait=20).checksum == _SUM
    (task,) = _tasks(demo, image)
    listed, shown = openstack(
        "image task list --status success", f"image task show {task['id']}", user="admin"
    )
    assert task["id"] in [each["ID"] for each in listed]
    assert (shown["status"], shown["message"]) == ("success", "Copied 0 MiB")
    assert shown["input"]["image_id"] == image.id
    demo.image.delete_image(image)


def test_an_image_comes_from_the_web(demo: Any, openstack: Run, queued: Any, data: Path) -> None:
    openstack("container create --public www", f"object create www {data} --name an.img")
    place = f"{demo.object_store.get_endpoint()}/www/an.img"
    openstack(f"image import --method web-download --uri {place} {queued.id}")
    image = demo.image.wait_for_status(queued, "active", interval=0.1, wait=20)
    assert (image.checksum, image.size) == (_SUM, len(_DATA))


def test_failed_import_is_reported(demo: Any, openstack: Run, queued: Any) -> None:
    place = f"{demo.object_store.get_endpoint()}/www/none.img"
    openstack(f"image import --method web-download --uri {place} {queued.id}")
    for _ in range(100):
        (task,) = _tasks(demo, queued)
        if task["status"] == "failure":
            break
        time.sleep(0.1)
    assert task["message"].endswith("answers with status 404")
    (shown,) = openstack(f"image show {queued.id}")
    assert shown["status"] == "queued"
    assert shown["properties"]["os_glance_failed_import"] == "local"
