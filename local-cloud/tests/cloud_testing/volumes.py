"""A client of the block storage API, and the contents of volumes."""

from pathlib import Path
from typing import Any

from cloud_testing.compute import Api, House

ROOT = "/volume/v3"


class Volumes:
    """Block storage as one user; answers are checked."""

    def __init__(self, house: House, api: Api) -> None:
        self.house = house
        self.api = api

    async def call(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        return await self.api.call(method, f"{ROOT}{path}", body, expect)

    async def get(self, path: str, expect: int = 200) -> Any:
        return await self.call("GET", path, expect=expect)

    async def make(self, *, settled: bool = True, **fields: Any) -> Any:
        """A new volume; as it is once it is made."""
        body = {"volume": {"size": 1, **fields}}
        made = (await self.call("POST", "/volumes", body, 202))["volume"]
        if settled:
            await self.house.settle()
            made = await self.volume(made["id"])
        return made

    async def volume(self, volume_id: str) -> Any:
        return (await self.get(f"/volumes/{volume_id}"))["volume"]

    async def act(self, volume_id: str, action: str, value: Any = None, expect: int = 202) -> Any:
        done = await self.call("POST", f"/volumes/{volume_id}/action", {action: value}, expect)
        await self.house.settle()
        return done

    async def snapshot(self, volume_id: str, **fields: Any) -> Any:
        body = {"snapshot": {"volume_id": volume_id, **fields}}
        made = (await self.call("POST", "/snapshots", body, 202))["snapshot"]
        await self.house.settle()
        return (await self.get(f"/snapshots/{made['id']}"))["snapshot"]

    async def backup(self, volume_id: str, **fields: Any) -> Any:
        body = {"backup": {"volume_id": volume_id, **fields}}
        made = (await self.call("POST", "/backups", body, 202))["backup"]
        await self.house.settle()
        return (await self.get(f"/backups/{made['id']}"))["backup"]

    async def refusal(self, method: str, path: str, body: Any = None, status: int = 400) -> str:
        """The message of a refusal."""
        answer = await self.call(method, path, body, status)
        ((_, told),) = answer.items()
        assert told["code"] == status
        return str(told["message"])

    def content(self, volume_id: str) -> Path:
        """Return the directory with the contents of a volume, as a server sees it."""
        return self.house.settings.cloud_dir / "volumes" / volume_id / "upper/root"

    def write(self, volume_id: str, text: str) -> None:
        """Put a file into a volume, as a server would."""
        place = self.content(volume_id)
        place.mkdir(parents=True, exist_ok=True)
        (place / "file").write_text(text)

    def read(self, volume_id: str) -> str:
        return (self.content(volume_id) / "file").read_text()
