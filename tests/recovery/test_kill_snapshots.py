"""``kill -9`` while snapshots of real servers and volumes are taken, restored and deleted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.recovery.service import server_processes, until
from tests.recovery.test_kill import END_SECONDS, Scene, Stack, scene, service

__all__ = ["scene", "service"]
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: 10.7.0.0/24}
  web: &server
    type: OS::Nova::Server
    depends_on: subnet
    properties:
      image: host
      flavor: m1.tiny
      networks: [{network: {get_resource: net}}]
  data: *server
  disk:
    type: OS::Cinder::Volume
    properties: {size: 1}
  held:
    type: OS::Cinder::VolumeAttachment
    properties: {instance_uuid: {get_resource: web}, volume_id: {get_resource: disk}}
"""
SERVERS = ("web", "data")
# Files that could be lost: on the disks of the servers, and on the volume.
PLACES = (("web", "/root/file"), ("data", "/root/file"), ("web", "/dev/vdb/file"))


class Snapshotted(Stack):
    """A stack with two servers and a volume, all with snapshots."""

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        stack = self.service.stack(self.name)
        assert stack is not None
        return self.service.request(method, f"/stacks/{self.name}/{stack['id']}/{path}", body)

    def write(self, text: str) -> None:
        """Put a text into each place."""
        for server, file in PLACES:
            self.execute(server, f"echo {text} > {file}; sync")

    def read(self) -> list[str]:
        return [self.execute(server, f"cat {file}").strip() for server, file in PLACES]

    def execute(self, server: str, command: str) -> str:
        program = str(Path(sys.executable).parent / "stoker")
        given = ["exec", "--data-dir", str(self.service.data_dir), self.name, server, "--"]
        found: list[str] = []

        def done() -> bool:
            ran = subprocess.run(
                [program, *given, "sh", "-c", command], capture_output=True, text=True, timeout=60
            )
            found.append(ran.stdout)
            return ran.returncode == 0

        until(done, f"{command} in {server}", END_SECONDS)
        return found[-1]

    def images(self) -> list[str]:
        """The images that were made of servers."""
        found = self.service.cloud("/image/v2/images")["images"]
        return [image["id"] for image in found if image.get("image_type") == "snapshot"]

    def backups(self) -> list[str]:
        """The backups that were made of the volume."""
        return [
            backup["id"]
            for backup in self.service.cloud("/volume/v3/backups?all_tenants=1")["backups"]
        ]


def has(stack: Stack, status: str) -> Callable[[], bool]:
    return lambda: stack.status() == status


def take_restore_and_delete(scene: Scene, tmp_path: Path, kills: int) -> None:
    """Kill the service so often during each step; then nothing is missing, and nothing too many."""
    template = tmp_path / "servers.yaml"
    template.write_text(TEMPLATE)
    stack = Snapshotted(scene.service, "s", template, template.name)
    scene.stacks.append(stack)
    stack.create()
    stack.await_status("CREATE_COMPLETE")
    before = stack.ids()
    stack.write("precious")

    answer = stack.ask("POST", "snapshots", {"name": "one"})
    assert answer.status_code == 200, answer.text
    snapshot = answer.json()["id"]
    scene.disturb(kills, has(stack, "SNAPSHOT_COMPLETE"))
    stack.await_status("SNAPSHOT_COMPLETE")
    assert stack.ask("GET", f"snapshots/{snapshot}").json()["snapshot"]["status"] == "COMPLETE"
    assert len(stack.images()) == len(SERVERS)
    assert len(stack.backups()) == 1

    stack.write("spoilt")
    assert stack.ask("POST", f"snapshots/{snapshot}/restore").status_code == 202
    scene.disturb(kills, has(stack, "RESTORE_COMPLETE"))
    stack.await_status("RESTORE_COMPLETE")
    assert stack.read() == ["precious"] * len(PLACES)
    assert stack.ids() == before
    assert len(stack.images()) == len(SERVERS)
    assert len(stack.backups()) == 1

    stack.delete()
    scene.disturb(kills, lambda: stack.status() in (None, "DELETE_COMPLETE"))
    stack.await_gone()
    assert stack.images() == []
    assert stack.backups() == []
    until(lambda: not server_processes(scene.service.data_dir), "no process of a server lives")


@pytest.mark.long
def test_restore_recovers_files_despite_kills(scene: Scene, tmp_path: Path) -> None:
    take_restore_and_delete(scene, tmp_path, 2)


@pytest.mark.long
def test_restore_recovers_files_despite_many_kills(scene: Scene, tmp_path: Path) -> None:
    take_restore_and_delete(scene, tmp_path, 8)
