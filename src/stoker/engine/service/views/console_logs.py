"""The console output of servers, read from the cloud with the credentials of the caller."""

from __future__ import annotations

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.service.requests.evaluate import new_stack
from stoker.engine.service.stack_access.lookup import Finder, current_rows, row_of
from stoker.engine.service.stack_access.row_reader import RowReader
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import RESOURCE_NOT_FOUND, NotFoundError

MOST_BYTES = 256 * 1024
_SERVERS = ("AWS::EC2::Instance", "OS::Nova::Server")


class ConsoleLogs:
    """Console output, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports, self._finder = ports, finder

    async def of(self, caller: Caller, address: StackAddress, name: str, lines: int) -> str:
        """Return the last lines of a server's console, at most 256 KiB.

        Raises NotFoundError for a resource without a server, or a server that does not exist.
        """
        ports = self._ports
        stack = await self._finder.at(caller, address)
        row = row_of(current_rows(await RowReader(ports).outlines(stack)), name, stack)
        server_id = row.physical_id
        if server_id is None or row.implementation not in _SERVERS:
            raise NotFoundError(f"The resource {name:.255} has no console.", RESOURCE_NOT_FOUND)
        reader = new_stack(ports, caller, "console", StackRequest())
        text = await ports.workers.run(
            "compute", lambda: ports.clouds.console_log(reader, server_id, lines)
        )
        return text.encode()[-MOST_BYTES:].decode(errors="ignore")
