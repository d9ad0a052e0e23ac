"""Shared file systems."""

from __future__ import annotations

import copy
import uuid
from typing import Any

from tests.clouds.fake_cloud import FakeResponse, RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case


def _network_action(service: Service, match: Any, body: Any) -> Object:
    [(action, arguments)] = body.items()
    present = service.objects(f"/share-networks/{match[1]}/services")
    name = arguments["security_service_id"]
    if (name in present) == (action == "add_security_service"):
        raise RefusalError(409, "the security service is, or is not, there")
    if action == "add_security_service":
        present[name] = {"id": name}
    else:
        del present[name]
    return {"share_network": service.objects("/share-networks")[match[1]]}


def _share_action(service: Any, match: Any, body: Any) -> Object | None:
    [(action, arguments)] = body.items()
    rules = service.objects(f"/shares/{match[1]}/rules")
    if action == "access_list":
        told = list(rules.values())
        for rule in [rule for rule in told if rule["state"] == "denying"]:
            del rules[rule["id"]]
        if service.version < (2, 28):
            told = [{**rule, "state": "new"} for rule in told]
        return {"access_list": told}
    if action == "allow_access":
        made = str(uuid.uuid4())
        rules[made] = {"id": made, "state": "active", "access_level": "rw", **arguments}
        return {"access": rules[made]}
    rule = rules[arguments["access_id"]]
    if rule["state"] == "denying":
        raise RefusalError(400, "the rule is being taken away")
    rules[rule["id"]] = {**rule, "state": "denying"}
    return None


def _metadata(service: Service, match: Any, body: Any) -> Object:
    service.objects("/shares")[match[1]]["metadata"] = body["metadata"]
    return dict(body)


def _specs(service: Service, match: Any, body: Any) -> Object:
    return {"extra_specs": service.objects("/types")[match[1]]["extra_specs"]}


def _set_specs(service: Service, match: Any, body: Any) -> Object:
    service.objects("/types")[match[1]]["extra_specs"] |= body["extra_specs"]
    return dict(body)


def _drop_spec(service: Service, match: Any, body: Any) -> None:
    del service.objects("/types")[match[1]]["extra_specs"][match[2]]


def _told(item: Object) -> Object:
    """A share, whose name and description an update calls otherwise."""
    told = dict(item)
    for name in ("name", "description"):
        if told.get(f"display_{name}") is not None:
            told[name] = told[f"display_{name}"]
    return told


def _as_before(body: Any) -> Any:
    """A body with a share type as it was before version 2.7."""
    told = copy.deepcopy(body)
    if isinstance(told, dict) and "share_type" in told:
        told["share_type"].pop("share_type_access:is_public", None)
    return told


class ShareService(Service):
    """Lists the security services of a share network, and few fields unless asked for details."""

    def request(self, path: str, method: str, **arguments: Any) -> FakeResponse:
        self.version = tuple(map(int, (arguments.get("microversion") or "2.0").split(".")))
        return super().request(path, method, **arguments)

    def _answer(self, method: str, path: str, body: Any, params: Any) -> Any:
        if path.startswith("/types") and self.version < (2, 7):
            return _as_before(super()._answer(method, path, _as_before(body), params))
        answer = super()._answer(method, path.removesuffix("/detail"), body, params)
        if method == "GET" and path in ("/security-services", "/share-networks"):
            [(plural, items)] = answer.items()
            return {plural: [{"id": each["id"], "name": each.get("name")} for each in items]}
        return answer

    def _collection(self, kind: Kind, method: str, path: str, body: Any, params: Any) -> Any:
        network = params.get("share_network_id")
        if method == "GET" and path == "/security-services" and network:
            return {
                "security_services": [*self.objects(f"/share-networks/{network}/services").values()]
            }
        return super()._collection(kind, method, path, body, params)


def service() -> Service:
    """The service of shared file systems."""
    return ShareService(
        (
            Kind(
                "/security-services",
                "security_service",
                "security_services",
                "type! name description dns_ip server domain user password",
                "name description dns_ip server domain user password",
            ),
            Kind(
                "/share-networks",
                "share_network",
                "share_networks",
                "name description neutron_net_id neutron_subnet_id",
                "name description neutron_net_id neutron_subnet_id",
            ),
            Kind(
                "/types",
                "share_type",
                "share_types",
                "name! share_type_access:is_public extra_specs!",
                unique=("name",),
            ),
            Kind(
                "/shares",
                "share",
                "shares",
                "share_proto! size! name description share_network_id share_type snapshot_id"
                " is_public metadata",
                "display_name display_description is_public",
                states=States("creating", "available", "", "deleting"),
                told=_told,
                made=lambda body: {"export_locations": ["10.0.0.1:/a"]},
            ),
        ),
        (
            ("POST", r"/share-networks/([^/]+)/action", _network_action),
            ("POST", r"/shares/([^/]+)/action", _share_action),
            ("PUT", r"/shares/([^/]+)/metadata", _metadata),
            ("GET", r"/types/([^/]+)/extra_specs", _specs),
            ("POST", r"/types/([^/]+)/extra_specs", _set_specs),
            ("DELETE", r"/types/([^/]+)/extra_specs/([^/]+)", _drop_spec),
        ),
    )


SECURITY = Case(
    "OS::Manila::SecurityService",
    {"type": "ldap"},
    {
        "name": "x",
        "description": "other",
        "dns_ip": "192.0.2.1",
        "domain": "example.org",
        "password": "secret",
        "server": "ldap.example.org",
        "user": "somebody",
    },
    {"type": "kerberos"},
    unreported=frozenset({"password"}),
)
CASES = (
    SECURITY,
    Case(
        "OS::Manila::ShareNetwork",
        {"neutron_network": "n", "neutron_subnet": "s", "security_services": ["@one"]},
        {
            "name": "x",
            "description": "other",
            "neutron_network": "o",
            "neutron_subnet": "t",
            "security_services": ["@two"],
        },
        dependencies={"@one": SECURITY, "@two": SECURITY},
    ),
    Case(
        "OS::Manila::ShareType",
        {"name": "fast", "driver_handles_share_servers": False, "extra_specs": {"a": "1"}},
        {"extra_specs": {"b": "2"}},
        {"name": "slow"},
        one_name=True,
        by="admin",
    ),
    Case(
        "OS::Manila::Share",
        {
            "share_protocol": "NFS",
            "size": 1,
            "access_rules": [
                {"access_to": "10.0.0.0/24", "access_type": "ip", "access_level": "rw"}
            ],
            "metadata": {"a": "1"},
        },
        {
            "access_rules": [
                {"access_to": "10.1.0.0/24", "access_type": "ip", "access_level": "ro"}
            ],
            "description": "other",
            "is_public": True,
            "metadata": {"b": "2"},
            "name": "x",
        },
        {"size": 2},
        by="admin",
    ),
)
