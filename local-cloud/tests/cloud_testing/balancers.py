"""A client of the load balancing API, and servers behind load balancers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from cloud_testing.compute import Api, House
from cloud_testing.recording_fabric import RecordingAppliances
from localcloud.fabric.links import relays

ROOT = "/load-balancer/v2/lbaas"
PATHS = {
    "loadbalancer": "/loadbalancers",
    "listener": "/listeners",
    "pool": "/pools",
    "member": "/pools/{}/members",
    "healthmonitor": "/healthmonitors",
    "l7policy": "/l7policies",
    "rule": "/l7policies/{}/rules",
}


class Balancing:
    """Load balancing as one user; answers are checked."""

    def __init__(self, house: House, api: Api) -> None:
        self.house = house
        self.api = api

    @property
    def appliances(self) -> RecordingAppliances:
        return self.house.fabric.appliances

    async def call(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        return await self.api.call(method, f"{ROOT}{path}", body, expect)

    async def get(self, path: str, expect: int = 200) -> Any:
        return await self.call("GET", path, expect=expect)

    async def make(self, kind: str, owner: str = "", *, settled: bool = True, **fields: Any) -> Any:
        """A new object; as it is when it is carried out."""
        path = PATHS[kind].format(owner)
        made = (await self.call("POST", path, {kind: fields}, 201))[kind]
        if settled:
            await self.house.settle()
            made = await self.show(kind, made["id"], owner)
        return made

    async def show(self, kind: str, object_id: str, owner: str = "") -> Any:
        return (await self.get(f"{PATHS[kind].format(owner)}/{object_id}"))[kind]

    async def change(self, kind: str, object_id: str, owner: str = "", **fields: Any) -> Any:
        path = f"{PATHS[kind].format(owner)}/{object_id}"
        await self.call("PUT", path, {kind: fields})
        await self.house.settle()
        return await self.show(kind, object_id, owner)

    async def delete(self, kind: str, object_id: str, owner: str = "") -> None:
        await self.call("DELETE", f"{PATHS[kind].format(owner)}/{object_id}", expect=204)
        await self.house.settle()

    async def refusal(self, method: str, path: str, body: Any = None, status: int = 400) -> str:
        """The message of a refusal."""
        answer = await self.call(method, path, body, status)
        assert answer["faultcode"] == "Client"
        return str(answer["faultstring"])

    async def refused(self, kind: str, status: int = 400, owner: str = "", **fields: Any) -> str:
        return await self.refusal("POST", PATHS[kind].format(owner), {kind: fields}, status)

    async def subnet(self, cidr: str = "10.0.0.0/24") -> str:
        network_id = await self.api.network(cidr=cidr)
        network = (await self.api.get(f"/network/v2.0/networks/{network_id}"))["network"]
        return str(network["subnets"][0])

    async def balancer(self, **fields: Any) -> Any:
        """A load balancer in a network of its own."""
        return await self.make("loadbalancer", vip_subnet_id=await self.subnet(), **fields)

    async def ready(self, protocol: str = "HTTP", port: int = 80, **pool: Any) -> tuple[Any, ...]:
        """A load balancer with a listener and its pool."""
        balancer = await self.balancer()
        listener = await self.make(
            "listener", loadbalancer_id=balancer["id"], protocol=protocol, protocol_port=port
        )
        fields = {"protocol": protocol, "lb_algorithm": "ROUND_ROBIN", **pool}
        made = await self.make("pool", listener_id=listener["id"], **fields)
        return balancer, listener, made

    async def member(self, pool: Any, number: int, **fields: Any) -> Any:
        given = {"address": f"10.0.0.{100 + number}", "protocol_port": 8080, **fields}
        return await self.make("member", pool["id"], **given)

    def door(self, balancer: Any, port: int = 80) -> tuple[str, int]:
        """Return the address at which the host reaches a listener."""
        return self.appliances.doors[balancer["vip_address"], port]

    @asynccontextmanager
    async def server(self, number: int, answer: Any) -> AsyncIterator[None]:
        """Serve at the address of the member with this number, inside the block."""
        handlers: set[asyncio.Task[Any]] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            handlers.add(task)
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    await answer(reader, writer)
            finally:
                await hang_up(writer)
                handlers.discard(task)

        listening = await asyncio.start_server(handle, "127.0.0.1", 0)
        place = f"10.0.0.{100 + number}", 8080
        self.appliances.servers[place] = listening.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            del self.appliances.servers[place]
            listening.close()
            for task in handlers:
                task.cancel()
            await asyncio.gather(*handlers, return_exceptions=True)


@asynccontextmanager
async def connected(place: tuple[str, int], **options: Any) -> AsyncIterator[relays.Streams]:
    """A connection for as long as the block."""
    reader, writer = await asyncio.open_connection(*place, **options)
    try:
        yield reader, writer
    finally:
        await hang_up(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and return when it is closed."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
