"""The namespaces of appliances, as the fabric process has them.

No process runs in such a namespace. Its sockets are opened here and handed to the cloud, which
serves them on its event loop.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from localcloud.fabric.interface import FabricError, ListenAccess, Port
from localcloud.fabric.links.filters import messages
from localcloud.fabric.links.links import set_sysctl
from localcloud.fabric.links.listen_access import make_socket, use_socket
from localcloud.fabric.links.switch import Switch, SwitchPorts
from localcloud.fabric.process import machines, specs
from localcloud.fabric.process.file_jobs import LATER
from localcloud.fabric.process.machines import RunningServer

Request = dict[str, Any]


class ApplianceNamespaces:
    """The namespaces of appliances. ``answer`` sends descriptors with the answer to a request."""

    def __init__(
        self,
        switch: Switch,
        servers: Mapping[str, RunningServer],
        answer: Callable[[Request, list[int]], None],
    ) -> None:
        self._switch = switch
        self._servers = servers
        self._answer = answer
        self._rooms: dict[str, SwitchPorts] = {}
        self.operations: dict[str, Callable[[Request], object]] = {
            "ensure_appliance": self._ensure,
            "remove_appliance": self._remove,
            "open_door": self._open,
        }

    def _ensure(self, request: Request) -> object:
        ports = {port["id"]: specs.port_from_json(port) for port in request["ports"]}
        cabling = self._rooms.get(request["appliance_id"])
        tables: list[int] = []
        if cabling is None:
            cabling = self._switch.new_namespace()
            self._rooms[request["appliance_id"]] = cabling
            # Without it, nothing is pinged.
            with self._switch.inside(cabling), suppress(OSError):
                set_sysctl("ipv4.ping_group_range", "0 0")
            tables = self._switch.open_tables(cabling)
        for port_id in set(cabling.names) - set(ports):
            self._switch.detach(cabling, port_id)
        for port in ports.values():
            if port.id in cabling.names:
                self._switch.address(cabling, machines.leg_of(port))
            else:
                machines.connect_port(self._switch, cabling, port, _free_name(cabling))
        links: dict[str, Port] = {name: ports[key] for key, name in cabling.names.items()}
        cabling.filters.apply(messages(links))
        self._answer(request, tables)
        for descriptor in tables:
            os.close(descriptor)
        return LATER

    def _remove(self, request: Request) -> None:
        cabling = self._rooms.pop(request["appliance_id"], None)
        if cabling is not None:
            for port_id in list(cabling.names):
                self._switch.detach(cabling, port_id)
            cabling.close()

    def _open(self, request: Request) -> object:
        holder = request["appliance_id"]
        server = self._servers.get(holder)
        cabling = self._rooms.get(holder) if server is None else server.cabling
        if cabling is None:
            raise FabricError(f"appliance {holder} does not exist in the fabric")
        place = request["address"], int(request["port"])
        with self._switch.inside(cabling):
            opened = make_socket(ListenAccess(request["door"]), place[0])
        with opened:
            use_socket(opened, ListenAccess(request["door"]), place)
            self._answer(request, [opened.fileno()])
        return LATER


def _free_name(cabling: SwitchPorts) -> str:
    number = 0
    while f"eth{number}" in cabling.names.values():
        number += 1
    return f"eth{number}"
