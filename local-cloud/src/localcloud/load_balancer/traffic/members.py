"""A member of a pool, as traffic sees it."""

import asyncio
import ssl
from functools import cache

from localcloud.core.store import Document
from localcloud.fabric.interface import Appliances, FabricError, ListenAccess
from localcloud.fabric.links.relays import Streams, await_connection


class Member:
    """A server behind a load balancer."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.active = 0  # connections that it serves now
        self.current = 0  # its place in the weighted round; see `Pool.choose`
        # What the health monitor has found; None before the first check, and without one.
        self.well: bool | None = None

    @property
    def id(self) -> str:
        """The id of the member."""
        return str(self.document["id"])

    @property
    def weight(self) -> int:
        """Its share of the traffic."""
        return int(self.document["weight"])

    @property
    def serves(self) -> bool:
        """Return whether it gets traffic."""
        up = self.document["admin_state_up"] and self.well is not False
        return bool(up) and self.document["provisioning_status"] != "PENDING_DELETE"

    def operating(self, monitored: bool) -> str:
        """Return the operating status."""
        if not self.document["admin_state_up"]:
            return "OFFLINE"
        if self.well is False:
            return "ERROR"
        if self.weight == 0:
            return "DRAINING"
        if not monitored:
            return "NO_MONITOR"
        return "OFFLINE" if self.well is None else "ONLINE"


class Doors:
    """Opens connections from the networks of a load balancer."""

    def __init__(self, appliances: Appliances, balancer_id: str) -> None:
        self.appliances = appliances
        self.balancer_id = balancer_id

    async def connect(self, address: str, port: int, seconds: float, tls: bool) -> Streams:
        """Connect to a server; raises OSError where it does not answer in time."""
        try:
            async with asyncio.timeout(seconds or None):
                opened = await self.appliances.open(
                    self.balancer_id, ListenAccess.CONNECT, address, port
                )
                reader, writer = await await_connection(opened)
                try:
                    if tls:
                        await writer.start_tls(_trusting(), server_hostname=address)
                except BaseException:
                    # The time-out arrives as a cancellation, which must not leak the connection
                    # either.
                    writer.close()
                    raise
                return reader, writer
        except (FabricError, ssl.SSLError) as error:
            raise OSError(str(error)) from error


@cache
def _trusting() -> ssl.SSLContext:
    """TLS that encrypts and trusts everybody, as without a certificate authority."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
