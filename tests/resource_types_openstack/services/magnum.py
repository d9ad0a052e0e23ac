"""Clusters of containers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case


def _sized(body: Object) -> Object:
    if body.get("docker_storage_driver") == "devicemapper" and not body.get("docker_volume_size"):
        raise RefusalError(400, "docker volume size None GB is not valid")
    return {}


@dataclass
class ClusterService(Service):
    """Clusters have every field from the start, because an update cannot add a field with a value.

    A change of a cluster is accepted, and starts a while later. A cluster that is nearly deleted
    cannot be shown, because it has no masters; the same holds for a list with a new cluster.
    """

    without_masters: bool = False
    accepted: list[tuple[int, Kind, Object, Any]] = field(default_factory=list)

    def _step(self) -> None:
        super()._step()
        waiting, self.accepted = self.accepted, []
        for steps, kind, item, given in waiting:
            if steps == 1:
                self._change(item, given)
            if steps > 0:
                self.accepted.append((steps - 1, kind, item, given))
            elif not item["status"].endswith("IN_PROGRESS"):
                item["updated_at"] = str(next(self.numbers))
                self._begin(kind, item, "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE")

    def _collection(self, kind: Kind, method: str, path: str, body: Any, params: Any) -> Any:
        if kind.key == "cluster" and method == "GET" and self.without_masters:
            self.without_masters = False
            raise RefusalError(400, "Invalid input for field/attribute master_count. Value: '0'.")
        self.without_masters |= kind.key == "cluster" and method == "POST"
        return super()._collection(kind, method, path, body, params)

    def _object(self, kind: Kind, method: str, path: str, key: str, body: Any) -> Any:
        item = self.objects(path).get(key, {})
        going = item.get("status") == "DELETE_IN_PROGRESS"
        if going and self.under_way[str(id(item))][2] == 0:
            raise RefusalError(400, "Invalid input for field/attribute master_count. Value: '0'.")
        if method != "PATCH":
            return super()._object(kind, method, path, key, body)
        for change in body:
            name = change["path"].lstrip("/")
            if change["op"] == "add" and item.get(name) is not None:
                raise RefusalError(400, f"The attribute /{name} has existed, please use 'replace'")
            if name not in kind.mutable:
                raise RefusalError(400, f"cannot change cluster property(ies) {name}.")
        if kind.key != "cluster":
            return super()._object(kind, method, path, key, body)
        if not item["status"].endswith("IN_PROGRESS"):
            self.accepted.append((3, kind, item, body))
        return {"uuid": key}


def service() -> Service:
    """The service of clusters."""
    return ClusterService(
        (
            Kind(
                "/clustertemplates",
                "clustertemplate",
                "clustertemplates",
                "name coe! external_network_id! image_id! keypair_id flavor_id master_flavor_id"
                " dns_nameserver docker_storage_driver docker_volume_size fixed_network"
                " fixed_subnet floating_ip_enabled http_proxy https_proxy labels master_lb_enabled"
                " network_driver no_proxy public registry_enabled server_type tls_disabled"
                " volume_driver",
                "public",
                "PATCH",
                made=_sized,
                id_field="uuid",
                bare=True,
            ),
            Kind(
                "/clusters",
                "cluster",
                "clusters",
                "name cluster_template_id! keypair node_count master_count discovery_url"
                " create_timeout",
                "node_count",
                "PATCH",
                id_field="uuid",
                bare=True,
                states=States(
                    "CREATE_IN_PROGRESS",
                    "CREATE_COMPLETE",
                    "UPDATE_IN_PROGRESS",
                    "DELETE_IN_PROGRESS",
                ),
            ),
        )
    )


TEMPLATE = Case(
    "OS::Magnum::ClusterTemplate",
    {
        "coe": "kubernetes",
        "external_network": "n",
        "image": "i",
        "labels": {"a": "1"},
        "docker_volume_size": 5,
        "flavor": "f",
        "master_flavor": "f",
    },
    {"public": True},
    {"image": "j"},
    by="admin",
)
CASES = (
    TEMPLATE,
    Case(
        "OS::Magnum::Cluster",
        {"cluster_template": "@template", "keypair": "k", "discovery_url": "http://127.0.0.1/a"},
        {"node_count": 5},
        {"keypair": "l"},
        {"@template": TEMPLATE},
        fixed=frozenset({"create_timeout", "discovery_url", "master_count"}),
        by="admin",
    ),
)
