"""Health monitors: members are asked at intervals, and taken out and in again."""

import asyncio
import contextlib
import os
import socket
import struct

from localcloud.core.store import Document
from localcloud.fabric.interface import FabricError, ListenAccess
from localcloud.load_balancer.traffic.members import Doors, Member
from localcloud.load_balancer.traffic.pools import Pool

_LEAST_DELAY = 0.1
_LINE = 4096
_ECHO, _ECHO_6 = 8, 128


class Monitor:
    """Asks the members of a pool."""

    def __init__(self, doors: Doors, pool: Pool, document: Document) -> None:
        self._doors = doors
        self._pool = pool
        self.document = document
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def update(self, document: Document) -> None:
        """Check with the settings of the document, and the current members of the pool."""
        changed = document != self.document
        unchanged = set() if changed else set(self._pool.members)
        await self._stop(set(self._asking) - unchanged)
        self.document = document
        for member_id, member in self._pool.members.items():
            if member_id not in self._asking:
                task = asyncio.get_running_loop().create_task(self._ask(member))
                self._asking[member_id] = task

    async def close(self) -> None:
        """End all checks."""
        await self._stop(set(self._asking))

    async def _stop(self, member_ids: set[str]) -> None:
        tasks = [self._asking.pop(member_id) for member_id in member_ids]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, member: Member) -> None:
        """Ask a member for ever. A new one serves until the first answer is a bad one."""
        good = bad = 0
        while True:
            well = await self._is_well(member)
            good, bad = (good + 1, 0) if well else (0, bad + 1)
            if member.well is None:
                member.well = well
            elif well and good >= self.document["max_retries"]:
                member.well = True
            elif not well and bad >= self.document["max_retries_down"]:
                member.well = False
            await asyncio.sleep(max(_LEAST_DELAY, self.document["delay"]))

    async def _is_well(self, member: Member) -> bool:
        address = member.document["monitor_address"] or member.document["address"]
        port = member.document["monitor_port"] or member.document["protocol_port"]
        try:
            async with asyncio.timeout(max(_LEAST_DELAY, self.document["timeout"])):
                return await self._good_answer(address, port)
        except (TimeoutError, OSError, FabricError, ValueError, EOFError):
            return False

    async def _good_answer(self, address: str, port: int) -> bool:
        kind = self.document["type"]
        if kind == "PING":
            return await self._echo(address)
        if kind == "UDP-CONNECT":
            return await self._not_refused(address, port)
        tls = kind in ("HTTPS", "TLS-HELLO")
        reader, writer = await self._doors.connect(address, port, 0, tls)
        try:
            if kind in ("TCP", "TLS-HELLO"):
                return True
            writer.write(self._request(address))
            line = await reader.readuntil(b"\n")
            return int(line.split(b" ", 2)[1]) in _codes(self.document["expected_codes"])
        except (IndexError, asyncio.LimitOverrunError):
            return False
        finally:
            writer.close()

    def _request(self, address: str) -> bytes:
        asked, version = self.document, self.document["http_version"] or 1.0
        host = asked["domain_name"] or address
        lines = [f"{asked['http_method']} {asked['url_path']} HTTP/{version}"]
        if version >= 1.1:
            lines += [f"Host: {host}", "Connection: close"]
        return "\r\n".join([*lines, "", ""]).encode()

    async def _open(self, door: ListenAccess, address: str, port: int) -> socket.socket:
        return await self._doors.appliances.open(self._doors.balancer_id, door, address, port)

    async def _echo(self, address: str) -> bool:
        kind = _ECHO_6 if ":" in address else _ECHO
        body = os.urandom(8)
        loop = asyncio.get_running_loop()
        with await self._open(ListenAccess.PING, address, 0) as sock:
            sock.send(
                struct.pack("!BBHHH", kind, 0, 0, 0, 1) + body
            )  # the kernel fills in the rest
            # Only the random bytes show that a reply belongs to this request.
            while not (await loop.sock_recv(sock, _LINE)).endswith(body):
                pass
        return True

    async def _not_refused(self, address: str, port: int) -> bool:
        """Return True if no refusal arrives within half of the monitor's time-out."""
        loop = asyncio.get_running_loop()
        with await self._open(ListenAccess.SEND, address, port) as sock:
            # The kernel reports the ICMP answer of a closed port as an error of the next receive.
            sock.send(b"")
            with contextlib.suppress(TimeoutError):
                # Silence is a good sign here. End before the monitor's own time-out counts as a
                # failure.
                async with asyncio.timeout(max(_LEAST_DELAY, self.document["timeout"]) / 2):
                    await loop.sock_recv(sock, _LINE)
        return True


def _codes(text: str) -> set[int]:
    """Return the statuses of ``200``, ``200,202`` or ``200-204``."""
    low, dash, high = text.partition("-")
    if dash:
        return set(range(int(low), int(high) + 1))
    return {int(code) for code in text.split(",")}
