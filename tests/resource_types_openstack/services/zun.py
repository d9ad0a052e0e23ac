"""Containers."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Service, States
from tests.resource_types_openstack.harness import Case


def _addresses(nets: list[Any]) -> dict[str, Any]:
    """The addresses of a container by its networks, with their ports."""
    return {
        net.get("network", f"net-of-{net.get('port')}"): [{"port": net.get("port")}] for net in nets
    }


CONTAINER = Kind(
    "/containers",
    "container",
    "containers",
    "name image! run command cpu memory environment hints hostname image_driver"
    " image_pull_policy interactive labels mounts nets restart_policy security_groups tty workdir",
    "name cpu memory",
    "PATCH",
    id_field="uuid",
    bare=True,
    made=lambda body: {"nets": body.get("nets") or []},
    told=lambda item: {**item, "addresses": _addresses(item["nets"])},
    states=States("Creating", "Running", "", "Deleting"),
)


def _plug(service: Service, match: Any, body: Any) -> None:
    item = service.objects("/containers")[match[1]]
    query = service.calls[-1][1].partition("?")[2]
    net = dict(part.split("=", 1) for part in query.split("&"))
    if (net in item["nets"]) == (match[2] == "attach"):
        raise RefusalError(400, "the network is, or is not, attached")
    item["nets"] = [each for each in item["nets"] if each != net]
    item["nets"] += [net] if match[2] == "attach" else []


def service() -> Service:
    """The container service."""
    return Service((CONTAINER,), (("POST", r"/containers/([^/]+)/network_(attach|detach)", _plug),))


CASES = (
    Case(
        "OS::Zun::Container",
        {
            "image": "nginx",
            "cpu": 1,
            "memory": 64,
            "labels": {"a": "1"},
            "mounts": [{"mount_path": "/data", "volume_size": 1}],
            "restart_policy": "on-failure:2",
            "networks": [{"network": "n"}],
        },
        {"cpu": 2, "memory": 128, "name": "x", "networks": [{"port": "p"}]},
        {"image": "redis"},
        unreported=frozenset({"mounts", "restart_policy", "networks"}),
    ),
)
