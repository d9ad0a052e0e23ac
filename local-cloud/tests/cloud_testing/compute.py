"""A cloud that can be killed, and the compute API as a user of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import httpx

from cloud_testing.doubles import ManualClock, StaticTokens
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.block_storage.service import BlockStorageService
from localcloud.compute.service import ComputeService
from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.fabric.interface import Fabric, Server
from localcloud.image.model.images import Images
from localcloud.image.service import ImageService
from localcloud.key_manager.service import KeyManagerService
from localcloud.load_balancer.service import LoadBalancingService
from localcloud.network.service import NetworkService
from localcloud.object_store.service import ObjectStoreService
from localcloud.process.app import CloudApp
from localcloud.shared_file_system.instance import SharedFileSystems
from localcloud.shared_file_system.service import SharedFileSystemService

_OTHERS = (
    "/network/", "/image/", "/compute", "/v1/", "/volume/", "/load-balancer/", "/key-manager/",
    "/share/",
)  # fmt: skip


SERVICES: tuple[type[LazyService], ...] = (
    ImageService,
    NetworkService,
    ObjectStoreService,
    BlockStorageService,
    KeyManagerService,
    LoadBalancingService,
    SharedFileSystemService,
    ComputeService,
)


class Api:
    """The cloud as one user; answers are checked."""

    volume_version = "3.70"
    share_version = "2.99"

    def __init__(self, http: httpx.AsyncClient, version: str = "2.96") -> None:
        self._http = http
        self.version = version

    def at(self, version: str) -> "Api":
        """The same user with another microversion."""
        return Api(self._http, version)

    async def send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        prefix = "" if path.startswith(_OTHERS) else "/compute/v2.1"
        headers = {
            "OpenStack-API-Version": f"compute {self.version}, volume {self.volume_version}",
            "X-OpenStack-Manila-API-Version": self.share_version,
            "Content-Type": "application/json",
        }
        # Escaped, so that a test can send what is no text at all; what can wait comes as it is.
        ready = body is None or isinstance(body, AsyncIterator)
        content = body if ready else json.dumps(body)
        return await self._http.request(method, prefix + path, content=content, headers=headers)

    async def call(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        answer = await self.send(method, path, body)
        assert answer.status_code == expect, f"{answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def get(self, path: str, expect: int = 200) -> Any:
        return await self.call("GET", path, expect=expect)

    async def boot(self, expect: int = 202, **values: Any) -> Any:
        """Request a server; return the answer under ``server``."""
        image = (await self.get("/image/v2/images?name=host"))["images"][0]["id"]
        hints = values.pop("hints", None)
        server = {"name": "one", "imageRef": image, "flavorRef": "42", "networks": "none", **values}
        body = {"server": server, **({"os:scheduler_hints": hints} if hints else {})}
        answer = await self.call("POST", "/servers", body, expect)
        return answer.get("server") or answer

    async def server(self, server_id: str) -> Any:
        return (await self.get(f"/servers/{server_id}"))["server"]

    async def act(self, server_id: str, action: str, value: Any = None, expect: int = 202) -> Any:
        return await self.call("POST", f"/servers/{server_id}/action", {action: value}, expect)

    async def refusal(self, method: str, path: str, body: Any, status: int, name: str) -> str:
        """The message of an error with this status and name."""
        answer = await self.call(method, path, body, status)
        assert answer[name]["code"] == status
        return str(answer[name]["message"])

    async def network(self, name: str = "net", cidr: str = "10.0.0.0/24") -> str:
        network = await self.call(
            "POST", "/network/v2.0/networks", {"network": {"name": name}}, 201
        )
        network_id = network["network"]["id"]
        subnet = {"network_id": network_id, "cidr": cidr, "ip_version": 4}
        await self.call("POST", "/network/v2.0/subnets", {"subnet": subnet}, 201)
        return str(network_id)


class GatedFabric(RecordingFabric):
    """A fabric whose boots wait while its gate is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()
        self.booting = 0
        self.most_booting = 0

    async def boot(self, server: Server) -> None:
        self.booting += 1
        self.reached.set()
        self.most_booting = max(self.booting, self.most_booting)
        try:
            await self.gate.wait()
            await super().boot(server)
        finally:
            self.booting -= 1


class HeldClock(ManualClock):
    """A clock that can be stopped: sleepers wake when it continues."""

    def __init__(self) -> None:
        super().__init__()
        self.goes = asyncio.Event()
        self.goes.set()

    async def sleep(self, seconds: float) -> None:
        await self.goes.wait()
        await super().sleep(seconds)


class House:
    """A running cloud that can be killed and started again on the same data."""

    def __init__(self, directory: Path) -> None:
        self.settings = Settings(data_dir=directory)
        self.settings.cloud_dir.mkdir()
        self.clock = HeldClock()
        self.fabric = GatedFabric()
        self.refuse_boots = ""
        self._exits = AsyncExitStack()

    async def start(self) -> None:
        self.fabric = GatedFabric()
        if self.refuse_boots:
            self.fabric.refusals["boot"] = self.refuse_boots
        store = Store(self.settings.cloud_dir / "cloud.sqlite")
        fabric = cast("Fabric", self.fabric)
        self.cloud = Cloud(store, StaticTokens(), fabric, self.clock, self.settings)
        self.app = CloudApp(self.cloud, [self.cloud.one(service) for service in SERVICES])
        await self.fabric.start(self.cloud.server_ended)
        await self._exits.enter_async_context(self.app.running())

    async def kill(self) -> None:
        """End the process as it is, with work under way."""
        await self._exits.aclose()

    async def restart(self) -> None:
        """Kill the process and start it again."""
        await self.kill()
        self.clock.goes.set()
        await self.start()

    async def settle(self) -> None:
        """Let all background work end."""
        await self.cloud.one(ComputeService).tools.machine.idle()
        await self.cloud.one(BlockStorageService).tools.work.idle()
        await self.cloud.one(LoadBalancingService).work.idle()
        await self.cloud.one(SharedFileSystems).tools.work.idle()

    def user(self, token: str, version: str = "2.96") -> Api:
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self.app),
            base_url=self.settings.url,
            headers={"X-Auth-Token": token},
        )
        return Api(client, version)

    def images(self) -> Images:
        return self.cloud.one(Images)
