"""A cloud in memory that speaks the services' REST APIs, and can lose answers.

``FakeCloud().connection`` has the methods of ``stoker.clouds.cloud.Cloud`` that types use.
"""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keystoneauth1.exceptions.connection import ConnectFailure

Object = dict[str, Any]

NETWORK_KINDS = {
    "networks": "network",
    "subnets": "subnet",
    "ports": "port",
    "routers": "router",
    "security-groups": "security_group",
    "security-group-rules": "security_group_rule",
    "floatingips": "floatingip",
}
COMPUTE_KINDS = {
    "servers": "server",
    "flavors": "flavor",
    "os-server-groups": "server_group",
}


class RefusalError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class FakeResponse:
    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        self.status_code = status
        self.text = "" if body is None else json.dumps(body)
        self.content = self.text.encode()
        self.headers = {"x-openstack-request-id": "req-fake", **(headers or {})}
        self.reason = "fake"

    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class FakeProxy:
    service: str
    cloud: FakeCloud

    def request(self, url: str, method: str, **arguments: Any) -> FakeResponse:
        return self.cloud.answer(self.service, method, url, arguments)

    def get_endpoint(self) -> str:
        return f"http://{self.service}.example/v3"


@dataclass
class FakeConnection:
    cloud: FakeCloud
    project_id: str = "project"

    def service(self, service_type: str) -> FakeProxy:
        return FakeProxy(service_type, self.cloud)

    def offers(self, service_type: str) -> bool:
        return service_type not in self.cloud.missing

    def __hash__(self) -> int:
        return id(self)


@dataclass
class FakeCloud:
    tables: dict[str, dict[str, Object]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    build_polls: int = 1
    actions: list[Object] = field(default_factory=list)  # actions on servers, the newest first
    detach_polls: int = 2  # reads of the ports until a detached one has no owner
    # Ports that the compute service had to detach, one entry per request.
    detached: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)  # services that are missing in the catalog
    lost: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str, int, str]] = field(default_factory=list)
    _numbers: Any = field(default_factory=lambda: itertools.count(10))

    def __post_init__(self) -> None:
        for kind in ["keypairs", "images", *NETWORK_KINDS, *COMPUTE_KINDS]:
            self.tables[kind] = {}
        self.connection = FakeConnection(self)

    # --- what tests steer with

    def lose_answer(self, method: str, path: str) -> None:
        """Carry out the next such request, but answer with a broken connection."""
        self.lost.append((method, path))

    def refuse(self, method: str, path: str, status: int, message: str) -> None:
        self.refused.append((method, path, status, message))

    def put(self, kind: str, **values: Any) -> str:
        made = {"id": str(uuid.uuid4()), **values}
        self.tables[kind][made["id"]] = made
        return str(made["id"])

    def all(self, kind: str) -> list[Object]:
        return list(self.tables[kind].values())

    def count(self, method: str, path: str) -> int:
        return sum(1 for call in self.calls if call == (method, path))

    # --- transport

    def answer(
        self, service: str, method: str, path: str, arguments: Mapping[str, Any]
    ) -> FakeResponse:
        self.calls.append((method, path))
        for entry in self.refused:
            if entry[0] == method and path.startswith(entry[1]):
                self.refused.remove(entry)
                return FakeResponse(entry[2], {"error": {"message": entry[3]}})
        if path.endswith("/os-instance-actions"):
            return FakeResponse(200, {"instanceActions": self.actions})
        handler: Callable[..., Any] = {
            "network": self._network,
            "compute": self._compute,
            "image": self._image,
            "message": lambda *_: None,
        }[service]
        body = arguments.get("json")
        try:
            result = handler(method, path.strip("/").split("/"), body, arguments)
        except RefusalError as refusal:
            return FakeResponse(refusal.status, {"fault": {"message": refusal.message}})
        for lost in self.lost:
            if lost[0] == method and path.startswith(lost[1]):
                self.lost.remove(lost)
                raise ConnectFailure("the connection broke")
        return FakeResponse(204 if result is None else 200, result)

    def _get(self, kind: str, object_id: str) -> Object:
        found = self.tables[kind].get(object_id)
        if found is None:
            raise RefusalError(404, f"{kind} {object_id} could not be located")
        return found

    def _filtered(self, kind: str, params: Mapping[str, Any]) -> list[Object]:
        found = self.all(kind)
        for key, value in params.items():
            if key == "fixed_ips":
                address = value.partition("=")[2]
                found = [
                    item
                    for item in found
                    if any(ip["ip_address"] == address for ip in item.get("fixed_ips", []))
                ]
            elif key == "tags":
                found = [item for item in found if value in item.get("tags", [])]
            elif key not in ("is_public", "limit"):
                found = [item for item in found if item.get(key) == value]
        return found

    # --- network

    def _network(self, method: str, parts: list[str], body: Any, arguments: Any) -> Any:
        kind = parts[0]
        if kind == "ports" and method == "GET":
            self._detach_later()
        key, plural = NETWORK_KINDS[kind], kind.replace("-", "_")
        if len(parts) == 1 and method == "GET":
            return {plural: self._filtered(kind, arguments.get("params") or {})}
        if len(parts) == 1:
            return {key: self._made(kind, body[key])}
        found = self._get(kind, parts[1])
        if len(parts) > 2:
            return self._network_action(method, kind, found, parts[2:], body)
        if method == "GET":
            return {key: found}
        if method == "PUT":
            if "fixed_ips" in body[key] and any(
                item.get("port_id") == found["id"] for item in self.all("floatingips")
            ):
                raise RefusalError(400, "Cannot update the fixed_ips of the port")
            found.update(body[key])
            return {key: found}
        self._remove(kind, found)
        return None

    def _remove(self, kind: str, found: Object) -> None:
        if kind == "ports" and found["device_id"] and found["device_id"] in self.tables["servers"]:
            raise RefusalError(403, "rule:delete_port is disallowed by policy")
        if kind == "ports" and found["device_id"] in self.tables["routers"]:
            raise RefusalError(409, "the port is owned by a router and cannot be deleted directly")
        if kind == "networks" and any(
            port["network_id"] == found["id"] for port in self.all("ports")
        ):
            raise RefusalError(409, "ports are still in use on the network")
        if kind == "security-groups":
            rules = self._filtered("security-group-rules", {"security_group_id": found["id"]})
            for rule in rules:
                del self.tables["security-group-rules"][rule["id"]]
        del self.tables[kind][found["id"]]

    def _detach_later(self) -> None:
        for port in self.all("ports"):
            if port.get("leaves_in") is not None:
                port["leaves_in"] -= 1
                if port["leaves_in"] <= 0:
                    port.update(device_id="", leaves_in=None)

    def _made(self, kind: str, body: Object) -> Object:
        if kind == "security-group-rules":
            alike = {key: value for key, value in body.items() if key != "description"}
            if any(alike.items() <= rule.items() for rule in self.all(kind)):
                raise RefusalError(409, "Security group rule already exists")
        made = {"id": str(uuid.uuid4()), "description": "", "project_id": "project", **body}
        made["tenant_id"] = "project"
        self.tables[kind][made["id"]] = made
        if kind == "networks":
            made.update(status="ACTIVE", subnets=[], tags=[])
        elif kind == "subnets":
            self._get("networks", made["network_id"])["subnets"].append(made["id"])
        elif kind == "ports":
            self._address(made)
        elif kind == "routers":
            made.update(status="ACTIVE", routes=[], tags=[])
        elif kind == "security-groups":
            for version in ("IPv4", "IPv6"):
                rule = {"direction": "egress", "ethertype": version}
                self._made("security-group-rules", {**rule, "security_group_id": made["id"]})
        elif kind == "floatingips":
            made.setdefault("floating_ip_address", f"203.0.113.{next(self._numbers)}")
            made.setdefault("port_id", None)
        return made

    def _address(self, port: Object) -> None:
        port.setdefault("device_id", "")
        port.setdefault("mac_address", f"fa:16:3e:00:00:{next(self._numbers):02x}")
        port["status"] = "DOWN"
        subnets = [item for item in self.all("subnets") if item["network_id"] == port["network_id"]]
        if "fixed_ips" not in port:
            port["fixed_ips"] = [{"subnet_id": subnets[0]["id"]}] if subnets else []
        for ip in port["fixed_ips"]:
            ip.setdefault("subnet_id", subnets[0]["id"] if subnets else None)
            ip.setdefault("ip_address", f"10.0.0.{next(self._numbers)}")
            for other in self.all("ports"):
                taken = [entry["ip_address"] for entry in other.get("fixed_ips", [])]
                if other is not port and ip["ip_address"] in taken:
                    del self.tables["ports"][port["id"]]
                    raise RefusalError(409, f"address {ip['ip_address']} is taken")

    def _network_action(
        self, method: str, kind: str, found: Object, rest: list[str], body: Any
    ) -> Any:
        match rest[0]:
            case "tags":
                found["tags"] = list(body["tags"])
                return {"tags": found["tags"]}
            case "dhcp-agents" | "l3-agents":
                return {"agents": found.setdefault("agents", [])}
            case "add_router_interface" if "port_id" in body:
                self._get("ports", body["port_id"])["device_id"] = found["id"]
                return {"port_id": body["port_id"]}
            case "add_router_interface":
                if any(
                    port["device_id"] == found["id"]
                    and port["fixed_ips"][0]["subnet_id"] == body["subnet_id"]
                    for port in self.all("ports")
                ):
                    raise RefusalError(400, "the router already has a port on the subnet")
                subnet = self._get("subnets", body["subnet_id"])
                port = {
                    "network_id": subnet["network_id"],
                    "device_id": found["id"],
                    "fixed_ips": [{"subnet_id": subnet["id"]}],
                }
                return {"port_id": self._made("ports", port)["id"]}
            case "remove_router_interface":
                for port in self.all("ports"):
                    subnets = [entry["subnet_id"] for entry in port["fixed_ips"]]
                    ends = (port["id"], *subnets)
                    is_meant = body.get("port_id") in ends or body.get("subnet_id") in ends
                    if port["device_id"] == found["id"] and is_meant:
                        del self.tables["ports"][port["id"]]
                        return {"port_id": port["id"]}
                raise RefusalError(404, "the router has no such interface")
            case "add_extraroutes":
                found["routes"] += [r for r in body["router"]["routes"] if r not in found["routes"]]
            case "remove_extraroutes":
                gone = body["router"]["routes"]
                found["routes"] = [route for route in found["routes"] if route not in gone]
        return {"router": found}

    # --- compute

    def _compute(self, method: str, parts: list[str], body: Any, arguments: Any) -> Any:
        kind = parts[0]
        if kind == "os-keypairs":
            return self._keypairs(method, parts, body)
        key = COMPUTE_KINDS[kind]
        if len(parts) == 1 and method == "GET":
            found = self._filtered(kind, arguments.get("params") or {})
            return {kind.removeprefix("os-").replace("-", "_"): found}
        if len(parts) == 1:
            inner = body[key]
            made = self._server(inner) if kind == "servers" else {"id": str(uuid.uuid4()), **inner}
            self.tables[kind][made["id"]] = made
            return {key: made}
        found = self._get(kind, parts[1])
        if len(parts) > 2:
            return self._server_part(method, found, parts[2:], body)
        if method == "GET":
            self._progress(found)
            if found.get("status") == "GONE":
                del self.tables[kind][found["id"]]
                raise RefusalError(404, "the server is gone")
            return {key: found}
        if method == "PUT":
            found.update(body[key])
            return {key: found}
        if kind == "servers":
            found["next"] = [("ACTIVE", "deleting")] * self.build_polls + [("GONE", None)]
            for port in self.all("ports"):
                if port["device_id"] == found["id"]:
                    port["device_id"] = ""
        else:
            del self.tables[kind][found["id"]]
        return None

    def _server(self, body: Object) -> Object:
        made: Object = {
            "id": str(uuid.uuid4()),
            "tags": [],
            "status": "BUILD",
            "OS-EXT-STS:task_state": "spawning",
            "OS-EXT-SRV-ATTR:instance_name": "instance-00000001",
            **body,
            "flavor": {"id": body["flavorRef"]},
            "image": {"id": body.get("imageRef")},
            "addresses": {},
        }
        made["next"] = [("BUILD", "spawning")] * self.build_polls + [("ACTIVE", None)]
        given = body.get("networks") or []
        for nic in [] if isinstance(given, str) else given:
            self._plug(made, nic["port"])
        return made

    def _plug(self, server: Object, port_id: str) -> None:
        port = self._get("ports", port_id)
        if port["device_id"]:
            raise RefusalError(409, f"port {port_id} is in use by another server")
        port["device_id"] = server["id"]
        network = self._get("networks", port["network_id"])
        server["addresses"].setdefault(network["name"], []).extend(
            {"addr": ip["ip_address"], "version": 4, "OS-EXT-IPS-MAC:mac_addr": port["mac_address"]}
            for ip in port["fixed_ips"]
        )

    def _progress(self, server: Object) -> None:
        if server.get("next"):
            server["status"], server["OS-EXT-STS:task_state"] = server["next"].pop(0)

    def _server_part(self, method: str, server: Object, rest: list[str], body: Any) -> Any:
        match [method, *rest]:
            case [_, "action"]:
                return self._server_action(server, body)
            case ["GET", "metadata"]:
                return {"metadata": server["metadata"]}
            case ["POST", "metadata"]:
                server["metadata"].update(body["metadata"])
                return {"metadata": server["metadata"]}
            case ["DELETE", "metadata", key]:
                del server["metadata"][key]
                return None
            case ["PUT", "tags"]:
                server["tags"] = list(body["tags"])
                return {"tags": server["tags"]}
            case ["GET", "os-interface"]:
                mine = [p for p in self.all("ports") if p["device_id"] == server["id"]]
                return {"interfaceAttachments": [{"port_id": port["id"]} for port in mine]}
            case ["POST", "os-interface"]:
                port_id = body["interfaceAttachment"].get("port_id")
                if port_id is None:
                    [network] = self.all("networks")
                    port_id = self._made("ports", {"network_id": network["id"], "name": ""})["id"]
                self._plug(server, port_id)
                return {"interfaceAttachment": {}}
            case ["DELETE", "os-interface", port_id]:
                port = self.tables["ports"].get(port_id)
                if port is None or port["device_id"] != server["id"]:
                    raise RefusalError(404, "the port is not attached")
                self.detached.append(port_id)
                port["leaves_in"] = self.detach_polls
                return None
            case ["POST", "remote-consoles"]:
                return {"remote_console": {"url": "http://console.example"}}
        raise RefusalError(404, f"no such path {rest}")

    def _server_action(self, server: Object, body: Object) -> Any:
        [(action, value)] = body.items()
        if server["OS-EXT-STS:task_state"]:
            raise RefusalError(409, f"the server is {server['OS-EXT-STS:task_state']}")
        match action:
            case "resize":
                server["flavor"] = {"id": value["flavorRef"]}
                server["next"] = [("RESIZE", "resize_prep"), ("VERIFY_RESIZE", None)]
            case "confirmResize":
                if server["next"]:
                    raise RefusalError(400, "Instance has not been resized.")
                server["next"] = [("VERIFY_RESIZE", None)] * 2 + [("ACTIVE", None)]
            case "rebuild":
                server["image"] = {"id": value["imageRef"]}
                server["user_data"] = value.get("user_data", server.get("user_data"))
                server["next"] = [("REBUILD", "rebuilding"), ("ACTIVE", None)]
            case "suspend":
                server["next"] = [("ACTIVE", "suspending"), ("SUSPENDED", None)]
            case "resume":
                server["next"] = [("SUSPENDED", "resuming"), ("ACTIVE", None)]
            case "changePassword":
                server["adminPass"] = value["adminPass"]
            case "createImage":
                return {"image_id": self.put("images", name=value["name"], status="active")}
            case _:
                raise RefusalError(400, f"no such action {action}")
        self._progress(server)
        return {}

    def _keypairs(self, method: str, parts: list[str], body: Any) -> Any:
        table = self.tables["keypairs"]
        if method == "POST":
            made = body["keypair"]
            if made["name"] in table:
                raise RefusalError(409, f"key pair {made['name']} is there already")
            table[made["name"]] = dict(made)
            return {"keypair": made}
        if len(parts) == 1:
            return {"keypairs": [{"keypair": item} for item in table.values()]}
        name = parts[1]
        found = self._get("keypairs", name)
        if method == "DELETE":
            del table[name]
            return None
        return {"keypair": found}

    # --- image

    def _image(self, method: str, parts: list[str], body: Any, arguments: Any) -> Any:
        if len(parts) == 1:
            return {"images": self._filtered("images", arguments.get("params") or {})}
        found = self._get("images", parts[1])
        if method == "DELETE":
            del self.tables["images"][parts[1]]
            return None
        return found


def is_id(value: str) -> bool:
    return re.fullmatch(r"[0-9a-f-]{36}", value) is not None
