"""Images, volumes and backups as archives that lead to the host, sent by a member of a project."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from cloud_testing.hostile_archives import (
    beyond_path_max,
    directory,
    link,
    mode_of_host_file,
    packed,
)
from tests.attacks.arena import Arena
from tests.recovery.service import until

_SETTLED = ("available", "error", "error_restoring", "ACTIVE", "ERROR")


@dataclass
class Cloud:
    """The local cloud as the attacker calls it."""

    url: str
    token: str
    project: str

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        headers = {"X-Auth-Token": self.token, "X-OpenStack-Nova-API-Version": "2.37"}
        headers |= options.pop("headers", {})
        return httpx.request(
            method, self.url + path, json=body, headers=headers, timeout=60, **options
        )

    def image(self, data: bytes, **properties: str) -> str:
        body = {"name": "i", "disk_format": "raw", "container_format": "bare", **properties}
        made = self.call("POST", "/image/v2/images", body)
        assert made.status_code == 201, made.text
        path = f"/image/v2/images/{made.json()['id']}"
        octets = {"Content-Type": "application/octet-stream"}
        self.call("PUT", f"{path}/file", content=data, headers=octets).raise_for_status()
        return str(made.json()["id"])

    def settled(self, path: str, kind: str) -> str:
        """The status of something when nothing is done to it any more."""

        def status() -> str:
            return str(self.call("GET", path).json()[kind]["status"])

        until(lambda: status() in _SETTLED, f"{path} has settled", 60)
        return status()

    def server(self, image_id: str) -> str:
        flavor = self.call("GET", "/compute/v2.1/flavors").json()["flavors"][0]["id"]
        server = {"name": "s", "imageRef": image_id, "flavorRef": flavor, "networks": "none"}
        made = self.call("POST", "/compute/v2.1/servers", {"server": server})
        assert made.status_code == 202, made.text
        return f"/compute/v2.1/servers/{made.json()['server']['id']}"

    def volume(self, **fields: Any) -> str:
        volume = {"size": 1, "name": "v", **fields}
        made = self.call("POST", f"/volume/v3/{self.project}/volumes", {"volume": volume})
        assert made.status_code == 202, made.text
        return f"/volume/v3/{self.project}/volumes/{made.json()['volume']['id']}"


@pytest.fixture
def cloud(arena: Arena) -> Cloud:
    token, project = arena.service.authenticate()
    return Cloud(arena.service.cloud_url, token, project)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A directory of the host with a file that only its owner can read."""
    found = tmp_path / "victim"
    found.mkdir()
    (found / "secret").write_text("of the host")
    (found / "secret").chmod(0o600)
    return found


def assert_whole(victim: Path) -> None:
    assert [path.name for path in victim.iterdir()] == ["secret"]
    assert stat.S_IMODE((victim / "secret").stat().st_mode) == 0o600


def test_server_of_hostile_image_writes_nothing_on_host(
    arena: Arena, cloud: Cloud, victim: Path
) -> None:
    with arena.attacked():
        server = cloud.server(cloud.image(packed(beyond_path_max("", victim))))
        assert cloud.settled(server, "server") == "ERROR"
    assert_whole(victim)


@pytest.mark.parametrize("name", ["stoker:base", "stoker:kind"])
def test_user_cannot_declare_image_to_be_disk(arena: Arena, cloud: Cloud, name: str) -> None:
    body = {"name": "i", "disk_format": "raw", "container_format": "bare", name: "volume"}
    with arena.attacked():
        answer = cloud.call("POST", "/image/v2/images", body)
    assert answer.status_code == 403


@pytest.mark.parametrize("kind", ["a link as its layer", "modes of a host file"])
def test_changed_backup_reaches_nothing_on_host(
    arena: Arena, cloud: Cloud, victim: Path, kind: str
) -> None:
    if kind == "a link as its layer":
        data = packed([directory("upper"), link("upper/root", str(victim))])
    else:
        data = packed(mode_of_host_file(victim / "secret"))
    volume = cloud.volume()
    assert cloud.settled(volume, "volume") == "available"
    backups = f"/volume/v3/{cloud.project}/backups"
    body = {"backup": {"volume_id": volume.rpartition("/")[2], "container": "c"}}
    made = cloud.call("POST", backups, body)
    assert made.status_code == 202, made.text
    backup = f"{backups}/{made.json()['backup']['id']}"
    assert cloud.settled(backup, "backup") == "available"
    container = f"/v1/AUTH_{cloud.project}/c"
    listed = cloud.call("GET", f"{container}?format=json").json()
    pieces = [each["name"] for each in listed if each["name"].endswith("-00001")]
    with arena.attacked():
        for piece in pieces:
            cloud.call("PUT", f"{container}/{piece}", content=data).raise_for_status()
        body = {"restore": {"volume_id": volume.rpartition("/")[2]}}
        assert cloud.call("POST", f"{backup}/restore", body).status_code == 202
        assert cloud.settled(volume, "volume") == "error_restoring"
    assert_whole(victim)
