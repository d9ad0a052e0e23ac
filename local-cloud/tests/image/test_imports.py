"""Imports of images: staged or from the web, their states, and whence they may come."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cloud_testing.recording_fabric import RecordingFabric
from localcloud.core.cloud import Cloud
from localcloud.core.settings import Settings
from localcloud.fabric.interface import Forwarding
from localcloud.image.jobs import Imports
from localcloud.image.model.images import Images
from localcloud.image.model.sources import Sources
from localcloud.image.service import ImageService

DATA = {"Content-Type": "application/octet-stream"}
FORMATS = {"container_format": "bare", "disk_format": "raw"}
DIRECT = {"method": {"name": "glance-direct"}}


class Web:
    """A server of HTTP whose answers a test chooses, by path."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        await self.gate.wait()
        path = head.split(" ")[1]
        writer.write(self.answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
        await writer.drain()
        writer.close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def file(self, path: str, content: bytes, head: str = "") -> str:
        length = f"Content-Length: {len(content)}\r\n"
        self.answers[path] = f"HTTP/1.1 200 OK\r\n{head or length}\r\n".encode() + content
        return self.url(path)


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    made = Web()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    await server.wait_closed()


@pytest.fixture
def cloud(cloud: Cloud) -> Cloud:
    """The cloud of an owner who allows the machine itself."""
    cloud.settings = replace(cloud.settings, image_hosts=("127.0.0.1", "localhost"))
    cloud.fabric = RecordingFabric()
    return cloud


async def made(api: Any, **fields: Any) -> str:
    answer = await api("POST", "/images", {**FORMATS, **fields})
    assert answer.status_code == 201
    methods = "glance-direct,web-download,copy-image"
    assert answer.headers["OpenStack-image-import-methods"] == methods
    return f"/images/{answer.json()['id']}"


def from_web(uri: Any) -> dict[str, Any]:
    return {"method": {"name": "web-download", "uri": uri}}


async def finished(cloud: Cloud) -> None:
    await cloud.one(Imports).work.idle()


async def shown(api: Any, path: str) -> Any:
    return (await api("GET", path)).json()


async def task_of(api: Any, path: str) -> Any:
    return (await shown(api, f"{path}/tasks"))["tasks"][0]


async def refusal(api: Any, path: str, body: Any, token: str = "demo") -> tuple[int, str]:
    answer = await api("POST", f"{path}/import", body, token)
    return answer.status_code, answer.json()["message"]


async def test_import_methods_are_listed(api: Any) -> None:
    told = (await shown(api, "/info/import"))["import-methods"]
    assert told["value"] == ["glance-direct", "web-download", "copy-image"]


async def test_data_is_staged_and_imported(api: Any, cloud: Cloud) -> None:
    path = await made(api)
    assert await refusal(api, path, DIRECT) == (
        409, "Image needs to be staged before 'glance-direct' method can be used",
    )  # fmt: skip
    assert (await api("PUT", f"{path}/stage", content=b"abc", headers=DATA)).status_code == 204
    image = await shown(api, path)
    assert (image["status"], image["size"]) == ("uploading", 3)
    for where in ("stage", "file"):
        put = await api("PUT", f"{path}/{where}", content=b"abc", headers=DATA)
        assert put.status_code == 409
    assert await refusal(api, path, from_web("http://192.0.2.1/")) == (
        409, "Image needs to be in 'queued' state to use 'web-download' method",
    )  # fmt: skip
    assert (await api("POST", f"{path}/import", DIRECT)).status_code == 202
    task = (await shown(api, path))["os_glance_import_task"]
    assert await refusal(api, path, DIRECT) == (409, "Image has active task")
    await finished(cloud)
    image = await shown(api, path)
    assert (image["status"], image["size"], image["stores"]) == ("active", 3, "local")
    assert image["checksum"] == hashlib.md5(b"abc").hexdigest()
    assert (image["os_glance_failed_import"], image["os_glance_importing_to_stores"]) == ("", "")
    assert "os_glance_import_task" not in image
    assert (await api("GET", f"{path}/file")).content == b"abc"
    known = await task_of(api, path)
    assert (known["id"], known["type"], known["status"]) == (task, "api_image_import", "success")
    assert known["result"] == {"image_id": image["id"]}
    assert known["input"]["import_req"] == DIRECT
    assert await refusal(api, path, DIRECT) == (
        409, "Image with status active cannot be target for import",
    )  # fmt: skip


async def test_an_image_comes_from_the_web(api: Any, cloud: Cloud, web: Web) -> None:
    path, content = await made(api), b"x" * 300_000
    uri = web.file("/image?version=1", content)
    web.gate.clear()
    assert (await api("POST", f"{path}/import", from_web(uri))).status_code == 202
    image = await shown(api, path)
    assert (image["status"], image["size"]) == ("queued", None)
    put = await api("PUT", f"{path}/file", content=b"abc", headers=DATA)
    assert (put.status_code, put.json()["message"]) == (409, "Image has active task")
    web.gate.set()
    await finished(cloud)
    image = await shown(api, path)
    assert (image["status"], image["size"]) == ("active", len(content))
    assert (await api("GET", f"{path}/file")).content == content
    assert web.asked[0].startswith("GET /image?version=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert not list((cloud.settings.cloud_dir / "images").glob("*.staged*"))


async def test_redirections_are_followed_and_pieces_put_together(
    api: Any, cloud: Cloud, web: Web
) -> None:
    chunked = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    web.file("/there", chunked, "Transfer-Encoding: chunked\r\n")
    web.answers["/here"] = b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
    path = await made(api)
    await api("POST", f"{path}/import", from_web(web.url("/here")))
    await finished(cloud)
    assert (await api("GET", f"{path}/file")).content == b"abcde"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answers with status 404"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "broke off"),
        (b"nonsense\r\n\r\n", "broke off"),
        (b"", "broke off"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
            "more than 5 redirections",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.9/\r\nContent-Length: 0\r\n\r\n",
            "http://127.0.0.9/ is no place from which images may come",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
            "is no place from which images may come",
        ),
    ],
)
async def test_failed_download_is_reported_and_repeatable(
    api: Any, cloud: Cloud, web: Web, answer: bytes, words: str
) -> None:
    web.answers["/x"] = answer
    path = await made(api)
    await api("POST", f"{path}/import", from_web(web.url("/x")))
    await finished(cloud)
    image = await shown(api, path)
    assert (image["status"], image["os_glance_failed_import"]) == ("queued", "local")
    task = await task_of(api, path)
    assert (task["status"], task["result"]) == ("failure", None)
    assert words in task["message"]
    await api("POST", f"{path}/import", from_web(web.file("/x", b"abc")))
    await finished(cloud)
    image = await shown(api, path)
    assert (image["status"], image["os_glance_failed_import"]) == ("active", "")
    assert len((await shown(api, f"{path}/tasks"))["tasks"]) == 2


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "Import request requires a 'method' field."),
        ({"method": {}}, 400, "Import request requires a 'name' field."),
        ({"method": "x"}, 400, "Import request requires a 'name' field."),
        ({"method": {"name": "foo"}}, 400, "Unknown import method name 'foo'."),
        (from_web(None), 400, "URI for web-download does not pass filtering: None"),
        (
            from_web("ftp://a.org/"),
            400,
            "URI for web-download does not pass filtering: ftp://a.org/",
        ),
        ({**DIRECT, "stores": ["nope"]}, 409, "Store for identifier nope not found"),
        ({**DIRECT, "stores": "local"}, 400, "'stores' must be a list of the names of stores."),
        ({**DIRECT, "all_stores": "x"}, 400, "'all_stores' must be boolean value only"),
        (
            {**DIRECT, "all_stores": True, "stores": ["local"]},
            400,
            "All_stores parameter can't be used with x-image-meta-store header or stores parameter",
        ),
        (
            {"method": {"name": "copy-image"}},
            409,
            "Only images with status active can be targeted for copying",
        ),
    ],
)
async def test_invalid_import_is_refused_in_glance_words(
    api: Any, body: Any, status: int, message: str
) -> None:
    found, told = await refusal(api, await made(api), body)
    assert found == status
    assert told.startswith(message)


async def test_import_needs_formats_and_reserves_names(api: Any) -> None:
    answer = await api("POST", "/images", {"name": "n"})
    path = f"/images/{answer.json()['id']}"
    assert await refusal(api, path, from_web("http://a.org/")) == (
        409, "'container_format' needs to be set before import",
    )  # fmt: skip
    body = {"name": "n", "os_glance_foo": "x"}
    assert (await api("POST", "/images", body)).status_code == 403
    patch = [{"op": "add", "path": "/os_glance_failed_import", "value": "x"}]
    headers = {"Content-Type": "application/openstack-images-v2.1-json-patch"}
    assert (await api("PATCH", path, patch, headers=headers)).status_code == 403


async def test_an_image_is_copied_to_no_second_store(api: Any, upload: Any) -> None:
    path, copy = f"/images/{await upload()}", {"method": {"name": "copy-image"}}
    assert (await refusal(api, path, copy))[0] == 403
    assert await refusal(api, path, copy, "admin") == (
        400, "Image is already present at store 'local'",
    )  # fmt: skip
    everywhere = await api("POST", f"{path}/import", {**copy, "all_stores": True}, "admin")
    assert everywhere.status_code == 202


async def test_images_of_others_are_not_imported(api: Any) -> None:
    path = await made(api)
    assert (await refusal(api, path, DIRECT, "other"))[0] == 404
    assert (await api("GET", f"{path}/tasks", token="other")).status_code == 404


async def test_source_of_image_is_hidden_from_others(api: Any, cloud: Cloud, web: Web) -> None:
    path = await made(api, visibility="community")
    await api("POST", f"{path}/import", from_web(web.file("/x?signature=secret", b"abc")))
    await finished(cloud)
    assert (await api("GET", path, token="other")).status_code == 200
    assert (await api("GET", f"{path}/tasks", token="other")).json() == {"tasks": []}
    assert len((await shown(api, f"{path}/tasks"))["tasks"]) == 1


async def test_twenty_tasks_of_an_image_are_remembered(api: Any, cloud: Cloud, web: Web) -> None:
    path = await made(api)
    for number in range(22):
        wish = from_web(web.url(f"/{number}"))
        await api("POST", f"{path}/import", {**wish, "unknown": "x" * 1000})
        await finished(cloud)
    tasks = (await shown(api, f"{path}/tasks"))["tasks"]
    assert [task["input"]["import_req"] for task in tasks] == [
        from_web(web.url(f"/{number}")) for number in range(21, 1, -1)
    ]


async def test_tasks_are_for_admins_and_expire(api: Any, cloud: Cloud, clock: Any) -> None:
    path = await made(api)
    await api("PUT", f"{path}/stage", content=b"abc", headers=DATA)
    await api("POST", f"{path}/import", DIRECT)
    await finished(cloud)
    assert (await api("GET", "/tasks")).status_code == 403
    (brief,) = (await api("GET", "/tasks", token="admin")).json()["tasks"]
    assert (brief["status"], brief["expires_at"]) == ("success", "2026-01-03T00:00:00Z")
    one = f"/tasks/{brief['id']}"
    assert (await api("GET", one, token="admin")).json()["message"] == "Copied 0 MiB"
    assert (await api("GET", "/tasks/nope", token="admin")).status_code == 404
    assert (await api("DELETE", one, token="admin")).status_code == 405
    assert (await api("GET", "/tasks?status=failure", token="admin")).json()["tasks"] == []
    clock.advance(2 * 24 * 3600)
    assert (await api("GET", "/tasks", token="admin")).json()["tasks"] == []


async def test_image_deleted_during_import_leaves_nothing(api: Any, cloud: Cloud, web: Web) -> None:
    path = await made(api)
    web.gate.clear()
    await api("POST", f"{path}/import", from_web(web.file("/x", b"abc")))
    assert (await api("DELETE", path)).status_code == 204
    web.gate.set()
    await finished(cloud)
    assert list((cloud.settings.cloud_dir / "images").iterdir()) == []
    assert (await api("GET", "/tasks", token="admin")).json()["tasks"] == []


async def restarted(cloud: Cloud) -> None:
    """End all work as a dead process does, and start the service again."""
    await cloud.one(Imports).work.stop()
    cloud._instances.clear()
    await ImageService(cloud).start()


async def test_interrupted_import_starts_again(api: Any, cloud: Cloud, web: Web) -> None:
    path = await made(api)
    web.gate.clear()
    await api("POST", f"{path}/import", from_web(web.file("/x", b"abc")))
    await asyncio.sleep(0.05)
    await cloud.one(Imports).work.stop()
    web.gate.set()
    await restarted(cloud)
    await finished(cloud)
    assert cloud.one(Images).get(path.rpartition("/")[2])["status"] == "active"
    assert len(web.asked) == 2


async def test_completely_downloaded_image_is_not_fetched_again(
    api: Any, cloud: Cloud, web: Web
) -> None:
    path = await made(api)
    await api("POST", f"{path}/import", from_web(web.file("/x", b"abc")))
    await finished(cloud)
    images = cloud.one(Images)
    (task,) = images.tasks.values()
    # as by a process that dies after the data and before its report
    images.tasks.put({**task, "status": "processing", "message": "", "expires_at": None})
    image = images.get(task["image_id"])
    images.change(image, {"os_glance_import_task": task["id"]})
    await restarted(cloud)
    await finished(cloud)
    assert len(web.asked) == 1
    known = cloud.one(Images).get(task["image_id"])
    assert (known["status"], "os_glance_import_task" in known) == ("active", False)
    assert cloud.one(Imports).tasks.get(task["id"])["status"] == "success"


@pytest.mark.parametrize("allowed", ["localhost", "127.0.0.2"])
async def test_host_names_are_resolved_and_checked(
    api: Any, cloud: Cloud, web: Web, allowed: str
) -> None:
    cloud.settings = replace(cloud.settings, image_hosts=(allowed,))
    path = await made(api)
    uri = web.file("/x", b"abc").replace("127.0.0.1", "localhost")
    assert (await api("POST", f"{path}/import", from_web(uri))).status_code == 202
    await finished(cloud)
    task = await task_of(api, path)
    if allowed == "localhost":
        assert (task["status"], len(web.asked)) == ("success", 1)
    else:
        assert "localhost is no place from which images may come" in task["message"]
        assert web.asked == []


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1/", "http://127.24.4.9.:80/", "http://127.24.4.9:22/", "http://10.0.0.1/", "http://[::1]/",
        "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/", "http://0.0.0.0/",
        "http://100.64.0.1/", "http://192.168.0.1/", "http://[fe80::1]/", "http://[fc00::1]/",
        "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://224.0.0.1/",
        "http://user:secret@example.org/", "http://exa mple.org/", "http:///x", "//example.org/",
        "http://example.org:0x50/", "http://example.org:99999/", "http://[::1/", "x" * 3000, 7,
        "http://ex\u00e4mple.org/", "http://example.org/\x01", "file:///etc/passwd", "gopher://example.org/",
    ],
)  # fmt: skip
def test_addresses_of_machine_are_refused(tmp_path: Path, uri: Any) -> None:
    sources = Sources(Settings(data_dir=tmp_path, port=5000), list)
    parts = sources.parsed(uri)
    # a name that only looks like an address is checked when it has been looked up
    assert parts is None or parts.hostname == "127.24.4.9."


@pytest.mark.parametrize(
    "uri",
    [
        "https://example.org/image.img", "http://93.184.216.34:8080/x?y=z", "http://[2600::]/",
        "http://127.0.0.1:5000/v1/AUTH_x/c/o?temp_url_sig=1", "http://127.24.4.9:8080/",
        "http://10.1.2.3/", "http://mirror.example.net/x",
    ],
)  # fmt: skip
def test_internet_cloud_and_allowed_hosts_are_accepted(tmp_path: Path, uri: str) -> None:
    settings = Settings(data_dir=tmp_path, port=5000, image_hosts=("10.1.0.0/16", ".example.net"))
    web = Forwarding("f", "tcp", "127.24.4.9", 8080, 80)
    assert Sources(settings, lambda: [web]).parsed(uri) is not None
