"""UDP: datagrams of a client go to one member for as long as they come."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from functools import partial

from localcloud.fabric.interface import FabricError, ListenAccess
from localcloud.load_balancer.traffic.members import Doors, Member
from localcloud.load_balancer.traffic.pools import Client, Pool
from localcloud.load_balancer.traffic.statistics import Statistics
from localcloud.load_balancer.traffic.streams import source_key

_IDLE_SECONDS = 30.0
_MOST_CLIENTS = 1000
_LARGEST = 65535
_AT_ONCE = 64


class _Flow:
    """The datagrams of one client and its member."""

    def __init__(self, sock: socket.socket, member: Member) -> None:
        self.sock = sock
        self.member = member
        self.heard_at = 0.0


class Datagrams:
    """Serves a UDP socket until it is closed."""

    def __init__(
        self,
        sock: socket.socket,
        doors: Doors,
        pool: Callable[[], Pool | None],
        counts: Statistics,
    ) -> None:
        self._sock = sock
        self._doors = doors
        self._pool = pool
        self._counts = counts
        self._flows: dict[Client, _Flow] = {}
        self._opening: dict[Client, asyncio.Task[None]] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(sock.fileno(), self._take)
        self._sweeper = self._loop.create_task(self._sweep())

    async def close(self) -> None:
        """End all."""
        self._loop.remove_reader(self._sock.fileno())
        self._sock.close()
        tasks = [self._sweeper, *self._opening.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in list(self._flows):
            self._drop(client)

    def _take(self) -> None:
        # Return to the event loop in between, even if clients send without a pause.
        for _ in range(_AT_ONCE):
            try:
                data, place = self._sock.recvfrom(_LARGEST)
            except OSError:
                return
            self._counts.bytes_in += len(data)
            client = Client(*place[:2])
            flow = self._flows.get(client)
            if flow is not None:
                flow.heard_at = self._loop.time()
                with contextlib.suppress(OSError):
                    flow.sock.send(data)
            # UDP may lose datagrams, so nothing is queued while a flow opens.
            elif client in self._opening or len(self._flows) >= _MOST_CLIENTS:
                self._counts.request_errors += 1
            else:
                task = self._loop.create_task(self._open(client, data))
                self._opening[client] = task
                task.add_done_callback(partial(self._opened, client))

    def _opened(self, client: Client, task: asyncio.Task[None]) -> None:
        self._opening.pop(client, None)

    async def _open(self, client: Client, data: bytes) -> None:
        pool = self._pool()
        member = None if pool is None else pool.choose(client, source_key(pool, client))
        if member is None:
            self._counts.request_errors += 1
            return
        address, port = member.document["address"], member.document["protocol_port"]
        opening = self._doors.appliances.open(
            self._doors.balancer_id, ListenAccess.SEND, address, port
        )
        try:
            sock = await opening
        except (FabricError, OSError):
            self._counts.request_errors += 1
            return
        flow = self._flows[client] = _Flow(sock, member)
        flow.heard_at = self._loop.time()
        member.active += 1
        self._counts.active_connections += 1
        self._counts.total_connections += 1
        self._loop.add_reader(sock.fileno(), self._return, client, flow)
        with contextlib.suppress(OSError):
            sock.send(data)

    def _return(self, client: Client, flow: _Flow) -> None:
        try:
            data = flow.sock.recv(_LARGEST)
        except BlockingIOError:
            return
        except OSError:
            # No process listens there. The next datagram may go to another member.
            self._drop(client)
            return
        self._counts.bytes_out += len(data)
        flow.heard_at = self._loop.time()
        with contextlib.suppress(OSError):
            self._sock.sendto(data, (client.address, client.port))

    def _drop(self, client: Client) -> None:
        flow = self._flows.pop(client)
        self._loop.remove_reader(flow.sock.fileno())
        flow.sock.close()
        flow.member.active -= 1
        self._counts.active_connections -= 1

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_IDLE_SECONDS / 3)
            for client, flow in list(self._flows.items()):
                gone = client not in self._flows
                if not gone and (
                    self._loop.time() - flow.heard_at > _IDLE_SECONDS or not flow.member.serves
                ):
                    self._drop(client)
