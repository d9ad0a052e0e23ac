"""Databases."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case


def _told(item: Object) -> Object:
    own = {key: value for key, value in item.items() if key not in ("databases", "users")}
    return {**own, "flavor": {"id": item["flavorRef"]}}


INSTANCE = Kind(
    "/instances",
    "instance",
    "instances",
    "name flavorRef! volume databases users nics availability_zone datastore replica_of"
    " replica_count restorePoint",
    "name",
    "PATCH",
    states=States("BUILD", "ACTIVE", "", "SHUTDOWN"),
    told=_told,
    made=lambda body: {"links": [{"href": "http://127.0.0.1/i", "rel": "self"}]},
)


def _act(service: Service, match: Any, body: Any) -> None:
    item = service.objects("/instances")[match[1]]
    if item["status"] != "ACTIVE":
        raise RefusalError(422, "the instance is busy")
    resize = body["resize"]
    if ("flavorRef" in resize) == ("volume" in resize):
        raise RefusalError(400, "either flavor or volume")
    item.update(resize)
    item["status"] = "RESIZE"
    service.under_way[str(id(item))] = (INSTANCE, item, 2, "ACTIVE")


def _list(service: Service, match: Any, body: Any) -> Object:
    return {match[2]: service.objects("/instances")[match[1]][match[2]] or []}


def _add(service: Service, match: Any, body: Any) -> None:
    item = service.objects("/instances")[match[1]]
    present = item[match[2]] or []
    if {each["name"] for each in present} & {each["name"] for each in body[match[2]]}:
        raise RefusalError(409, "it is there already")
    item[match[2]] = [*present, *body[match[2]]]


def _drop(service: Service, match: Any, body: Any) -> None:
    item = service.objects("/instances")[match[1]]
    item[match[2]] = [each for each in item[match[2]] or [] if each["name"] != match[3]]


class DatabaseService(Service):
    """Clusters are built in the background; their task shows the progress."""

    def _step(self) -> None:
        super()._step()
        for item in self.objects("/clusters").values():
            if item["steps"] > 0:
                item["steps"] -= 1
            else:
                item["task"] = {"name": "NONE"}


def service() -> Service:
    """The database service."""
    return DatabaseService(
        (
            INSTANCE,
            Kind(
                "/clusters",
                "cluster",
                "clusters",
                "name! datastore! instances!",
                made=lambda body: {"task": {"name": "BUILDING"}, "steps": 2},
            ),
        ),
        (
            ("POST", r"/instances/([^/]+)/action", _act),
            ("GET", r"/instances/([^/]+)/(databases|users)", _list),
            ("POST", r"/instances/([^/]+)/(databases|users)", _add),
            ("DELETE", r"/instances/([^/]+)/(databases|users)/([^/]+)", _drop),
        ),
    )


def _user(name: str, password: str) -> Object:
    return {"name": name, "password": password, "databases": ["shop"]}


CASES = (
    Case(
        "OS::Trove::Instance",
        {
            "flavor": "f",
            "size": 1,
            "datastore_type": "mysql",
            "datastore_version": "8.0",
            "databases": [{"name": "shop"}],
            "users": [_user("root", "secret")],
            "networks": [{"network": "n"}],
        },
        {
            "databases": [{"name": "shop"}, {"name": "staff"}],
            "flavor": "g",
            "name": "x",
            "size": 2,
            "users": [_user("root", "other"), _user("app", "secret")],
        },
        {"availability_zone": "nova"},
        unreported=frozenset({"users", "networks", "availability_zone"}),
    ),
    Case(
        "OS::Trove::Cluster",
        {
            "datastore_type": "mongodb",
            "datastore_version": "7.0",
            "instances": [{"flavor": "f", "volume_size": 1, "networks": [{"port": "p"}]}],
        },
        other={"datastore_version": "6.0"},
        unreported=frozenset({"instances"}),
    ),
)
