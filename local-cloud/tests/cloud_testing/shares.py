"""The API of shared file systems as a user of it, and servers that mount shares."""

from pathlib import Path
from typing import Any

from cloud_testing.compute import Api, House
from localcloud.fabric.exports import MountRequest
from localcloud.fabric.interface import Face

ROOT = "/share/v2"


class Shares:
    """Shared file systems as one user; answers are checked."""

    def __init__(self, house: House, api: Api) -> None:
        self.house = house
        self.api = api

    async def call(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        return await self.api.call(method, f"{ROOT}{path}", body, expect)

    async def get(self, path: str, expect: int = 200) -> Any:
        return await self.call("GET", path, expect=expect)

    async def make(self, *, settled: bool = True, **values: Any) -> Any:
        """A new share; as it is once it is made."""
        body = {"share": {"share_proto": "NFS", "size": 1, **values}}
        made = (await self.call("POST", "/shares", body))["share"]
        return await self.share(made["id"]) if settled else made

    async def share(self, share_id: str) -> Any:
        await self.house.settle()
        return (await self.get(f"/shares/{share_id}"))["share"]

    async def act(self, share_id: str, action: str, value: Any = None, expect: int = 202) -> Any:
        done = await self.call("POST", f"/shares/{share_id}/action", {action: value}, expect)
        await self.house.settle()
        return done

    async def allow(
        self, share_id: str, who: str, level: str = "rw", kind: str = "ip", **more: Any
    ) -> str:
        """Allow a user or address to use a share; return the id of the rule."""
        rule = {"access_type": kind, "access_to": who, "access_level": level, **more}
        made = await self.act(share_id, "allow_access", rule, 200)
        return str(made["access"]["id"])

    async def rules(self, share_id: str) -> list[Any]:
        found: list[Any] = (await self.get(f"/share-access-rules?share_id={share_id}"))[
            "access_list"
        ]
        return found

    async def snapshot(self, share_id: str, **values: Any) -> Any:
        body = {"snapshot": {"share_id": share_id, **values}}
        made = (await self.call("POST", "/snapshots", body, 202))["snapshot"]
        await self.house.settle()
        return (await self.get(f"/snapshots/{made['id']}"))["snapshot"]

    async def refusal(self, method: str, path: str, body: Any = None, status: int = 400) -> str:
        """The message of a refusal."""
        answer = await self.call(method, path, body, status)
        ((_, told),) = answer.items()
        assert told["code"] == status
        return str(told["message"])

    async def path_of(self, share_id: str) -> str:
        """Return the source for a mount of a share."""
        locations = (await self.get(f"/shares/{share_id}/export_locations"))["export_locations"]
        return str(locations[0]["path"])

    async def mount(
        self, server_id: str, source: str, kind: str = "nfs", options: str = ""
    ) -> None:
        """Mount as a program in a server does; raises MountRefusedError."""
        mount = self.house.fabric.exports.mount
        assert mount is not None
        await mount(MountRequest(server_id, kind, source, "/mnt", options))

    def face(self, server_id: str, share_id: str) -> Face:
        """Return the access of a server to a share that it has mounted."""
        return self.house.fabric.shares[server_id][share_id]

    def write(self, share_id: str, text: str) -> None:
        """Put a file into a share, as a server would."""
        self.content(share_id).mkdir(parents=True, exist_ok=True)
        (self.content(share_id) / "file").write_text(text)

    def read(self, share_id: str) -> str:
        return (self.content(share_id) / "file").read_text()

    def content(self, share_id: str) -> Path:
        """Return the directory of a share or of a snapshot, as servers see it."""
        return self.house.settings.cloud_dir / "shares" / share_id / "upper/root"
