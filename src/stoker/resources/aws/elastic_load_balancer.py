"""AWS::ElasticLoadBalancing::LoadBalancer: a load balancer with all its parts.

It is in the network of its instances. For each listener there is a pool, whose members have the ids
of the instances as names. Groups of instances find the pools in the resource's data, and add their
own members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from stoker.clouds.objects.collection import Collection, Object
from stoker.clouds.objects.collections import PORTS, SUBNETS
from stoker.clouds.objects.kinds import KINDS
from stoker.clouds.objects.security_groups import group_ids, named_groups
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import polling_pause
from stoker.resources.shared.groups.instance_groups import GROUPED, POOLS
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome, Wait

_LISTENERS = KINDS["load-balancer", "listener"]
_TARGET = re.compile(r"(HTTP|HTTPS|SSL|TCP):(\d{1,5})(/.*)?")
_MONITORS = {"SSL": "TLS-HELLO"}  # Type of a health check -> Octavia's name, where they differ.
_STEP = "step"  # Key of the progress: number of requests of an update that were sent.


class Balancers(Collection, frozen=True):
    """Load balancers that are deleted together with all their parts."""

    def delete(self, cloud: Any, object_id: str, **more: Any) -> bool:
        """Delete a load balancer with all its parts; return False if there was none."""
        return super().delete(cloud, object_id, params={"cascade": "true"}, **more)


class _Place(Struct, frozen=True):
    """Address and subnet of an instance."""

    instance: str
    address: str
    subnet_id: str


class LoadBalancer(Balanced):
    """A load balancer with its listeners, and a pool of the instances for each."""

    type_name = "AWS::ElasticLoadBalancing::LoadBalancer"
    not_importable = "its pools are known from its create only"
    description = "An address whose traffic is distributed over instances."
    collection = Balancers(
        "load-balancer",
        "/lbaas/loadbalancers",
        "loadbalancer",
        "loadbalancers",
        words="load balancer",
    )
    has_name = True

    properties = {
        "AppCookieStickinessPolicy": declare.string("Not available.", implemented=False),
        "AvailabilityZones": declare.sequence("Accepted without effect.", required=True),
        "HealthCheck": declare.mapping(
            "Health check of the instances.",
            entries={
                "HealthyThreshold": declare.integer(
                    "Number of successful checks before an instance is used again.", required=True
                ),
                "Interval": declare.integer("Seconds between checks.", required=True),
                "Target": declare.string(
                    "Target of the check, such as HTTP:80/index.html.", required=True
                ),
                "Timeout": declare.integer("Timeout of a check in seconds.", required=True),
                "UnhealthyThreshold": declare.integer(
                    "Number of failed checks before an instance is no longer used.", required=True
                ),
            },
        ),
        "Instances": declare.sequence("Instances, which are in one network.", update_allowed=True),
        "LBCookieStickinessPolicy": declare.string("Not available.", implemented=False),
        "Listeners": declare.records(
            "Listeners of the load balancer.",
            required=True,
            entries={
                "InstancePort": declare.integer("Port of the instances.", required=True),
                "LoadBalancerPort": declare.integer("Port of the load balancer.", required=True),
                "PolicyNames": declare.sequence("Not available.", implemented=False),
                "Protocol": declare.choice(
                    ["TCP", "HTTP"], "Protocol of both ports.", required=True
                ),
                "SSLCertificateId": declare.string("Not available.", implemented=False),
            },
        ),
        "SecurityGroups": declare.sequence(
            "Security groups of the load balancer, by name or id.", update_allowed=True
        ),
        "Subnets": declare.sequence("Not available.", implemented=False),
    }
    attributes = {
        "CanonicalHostedZoneName": Attribute("The address.", Type.STRING),
        "CanonicalHostedZoneNameID": Attribute("Always empty.", Type.STRING),
        "DNSName": Attribute("The address.", Type.STRING),
        "SourceSecurityGroup.GroupName": Attribute("Always empty.", Type.STRING),
        "SourceSecurityGroup.OwnerAlias": Attribute("Always empty.", Type.STRING),
        "show": declare.SHOW,
    }

    def reference(self, call: Call) -> Any:
        """Return the name of the resource. Groups refer to the load balancer by it."""
        return call.name

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that each port has one listener, and that the health check is valid."""
        return [*_of_listeners(properties), *_of_check(properties.get("HealthCheck"))]

    def candidates(self, call: Call) -> list[Object]:
        """Return the load balancer with the physical name."""
        return self.collection.named(call.cloud, call.physical_name)

    def creation_body(self, call: Call) -> Object:
        """Return the load balancer with its parts. Raise RequestError if its network is unknown."""
        places = [_place(call.cloud, str(each)) for each in call.properties["Instances"] or ()]
        body = {
            "name": call.physical_name,
            "vip_subnet_id": places[0].subnet_id if places else _only_subnet(call.cloud),
            "listeners": [_listener(call, each, places) for each in call.properties["Listeners"]],
        }
        if call.properties["SecurityGroups"]:
            body["vip_sg_ids"] = group_ids(call.cloud, call.properties["SecurityGroups"])
        return body

    def create(self, call: Call) -> Outcome:
        """Create the load balancer with all parts; record the pools for groups of instances."""
        outcome = super().create(call)
        if not isinstance(outcome, Done):
            return outcome
        object_id = outcome.physical_id or call.object_id
        pools = [
            {"pool": pool_id, **_ports(call, listener)}
            for listener, pool_id in _pools(call, object_id)
        ]
        return replace(outcome, data={**call.data, POOLS: pools})

    def update(self, call: Call) -> Outcome:
        """Send one request after the other, since each makes the load balancer immutable for a
        while."""
        outcome = self.judge(call, self.collection.get(call.cloud, call.object_id))
        steps = list(self._steps(call))
        done = int(call.progress.get(_STEP, 0))
        if not isinstance(outcome, Done) or done >= len(steps):
            return outcome
        steps[done]()
        return Wait(polling_pause(call), progress={_STEP: done + 1})

    def _steps(self, call: Call) -> Iterator[Callable[[], Any]]:
        """Yield the requests of an update. Each is safe to repeat."""
        desired, cloud = call.properties, call.cloud
        if "SecurityGroups" in call.update.changed:
            groups = {"vip_sg_ids": group_ids(cloud, desired["SecurityGroups"] or ())}
            yield partial(self.collection.update, cloud, call.object_id, groups)
        if "Instances" in call.update.changed:
            instances = [str(each) for each in desired["Instances"] or ()]
            before = map(str, call.update.previous.get("Instances") or ())
            gone = sorted(set(before) - set(instances))
            places = [_place(cloud, each) for each in instances]
            for listener, pool_id in _pools(call, call.object_id):
                if places:
                    members = [_member(call, listener, each) for each in places]
                    yield partial(_add_members, cloud, pool_id, members)
                for instance in gone:
                    yield partial(_remove_member, cloud, pool_id, instance)

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the address. Other attributes of AWS are empty, as in Heat."""
        empty = {name: "" for name in self.attributes if name != "show"}
        address = found.get("vip_address")
        return {**empty, "CanonicalHostedZoneName": address, "DNSName": address}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the instances that are members of every pool, and the security groups.

        Members that belong to groups are not included.
        """
        observed: dict[str, Any] = {}
        specified = call.properties["SecurityGroups"] or ()
        if "vip_sg_ids" in found:
            observed["SecurityGroups"] = named_groups(call.cloud, specified, found["vip_sg_ids"])
        pools = [_members(pool["id"]).select(call.cloud) for pool in found.get("pools") or ()]
        if pools:
            own = [
                {str(each["name"]) for each in pool if GROUPED not in (each.get("tags") or ())}
                for pool in pools
            ]
            observed["Instances"] = sorted(set.intersection(*own))
        return observed


def _pools(call: Call, object_id: str) -> list[tuple[Mapping[str, Any], str]]:
    """Return each listener of the template with its pool in Octavia."""
    desired = {each["LoadBalancerPort"]: each for each in call.properties["Listeners"]}
    return [
        (desired[found["protocol_port"]], str(found["default_pool_id"]))
        for found in _LISTENERS.select(call.cloud, loadbalancer_id=object_id)
        if found["protocol_port"] in desired and found.get("default_pool_id")
    ]


def _members(pool_id: str) -> Collection:
    return Collection("load-balancer", f"/lbaas/pools/{pool_id}/members", "member", "members")


def _add_members(cloud: Any, pool_id: str, members: Sequence[Object]) -> None:
    where = _members(pool_id)
    body, query = {"members": list(members)}, {"additive_only": "true"}
    where.ask(cloud, "PUT", where.path, json=body, params=query)


def _remove_member(cloud: Any, pool_id: str, instance: str) -> None:
    where = _members(pool_id)
    for found in where.named(cloud, instance):
        where.delete(cloud, found["id"])


def _place(cloud: Any, instance: str) -> _Place:
    """Return the address of an instance. Raise RequestError if it has none."""
    for port in PORTS.select(cloud, device_id=instance):
        for fixed in port.get("fixed_ips") or ():
            return _Place(instance, fixed["ip_address"], fixed["subnet_id"])
    raise RequestError(f'the network knows no address of the instance "{instance}"')


def _only_subnet(cloud: Any) -> str:
    """Return the subnet for a load balancer without instances. Raise RequestError for several."""
    found = SUBNETS.select(cloud, project_id=cloud.project_id)
    if len(found) != 1:
        raise RequestError(
            f"a load balancer without Instances is in the project's subnet, and there are"
            f" {len(found)}: give it an instance"
        )
    return str(found[0]["id"])


def _listener(call: Call, desired: Mapping[str, Any], places: Sequence[_Place]) -> Object:
    name = f"{call.physical_name}-{desired['LoadBalancerPort']}"
    pool: Object = {
        "name": name,
        "protocol": desired["Protocol"],
        "lb_algorithm": "ROUND_ROBIN",
        "members": [_member(call, desired, place) for place in places],
    }
    check = call.properties["HealthCheck"]
    if check:
        kind, _, path = _target(check["Target"])
        pool["healthmonitor"] = {
            "name": name,
            "type": _MONITORS.get(kind, kind),
            "delay": check["Interval"],
            "timeout": check["Timeout"],
            "max_retries": check["HealthyThreshold"],
            "max_retries_down": check["UnhealthyThreshold"],
            **({"url_path": path} if path else {}),
        }
    return {
        "name": name,
        "protocol": desired["Protocol"],
        "protocol_port": desired["LoadBalancerPort"],
        "default_pool": pool,
    }


def _member(call: Call, listener: Mapping[str, Any], place: _Place) -> Object:
    return {
        "name": place.instance,
        "address": place.address,
        "subnet_id": place.subnet_id,
        **_ports(call, listener),
    }


def _ports(call: Call, listener: Mapping[str, Any]) -> dict[str, int]:
    """Return the member ports of a listener's pool."""
    port, check = listener["InstancePort"], call.properties["HealthCheck"]
    monitor_port = _target(check["Target"])[1] if check else port
    return {
        "protocol_port": port,
        **({"monitor_port": monitor_port} if monitor_port != port else {}),
    }


def _target(text: str) -> tuple[str, int, str]:
    """Return protocol, port and path of a check's target. Raise RequestError for others."""
    found = _TARGET.fullmatch(text)
    if found is None:
        raise RequestError(_no_target(text))
    return found[1], int(found[2]), found[3] or ""


def _no_target(text: str) -> str:
    return f'a target is PROTOCOL:PORT, with a path for HTTP, not "{text}"'


def _of_listeners(properties: Mapping[str, Any]) -> Iterator[Diagnostic]:
    seen = set()
    for index, listener in declare.records_in(properties.get("Listeners")):
        port = listener.get("LoadBalancerPort")
        if isinstance(port, int) and port in seen:
            message = f"another listener has the port {port} already"
            yield Diagnostic("same-port", message, ("Listeners", index, "LoadBalancerPort"))
        seen.add(port if isinstance(port, int) else None)


def _of_check(check: Any) -> Iterator[Diagnostic]:
    if not isinstance(check, Mapping):
        return
    target, interval, timeout = (check.get(name) for name in ("Target", "Interval", "Timeout"))
    if isinstance(target, str) and not _TARGET.fullmatch(target):
        yield Diagnostic("bad-target", _no_target(target), ("HealthCheck", "Target"))
    if isinstance(interval, int) and isinstance(timeout, int) and timeout >= interval:
        message = "Interval must be larger than Timeout"
        yield Diagnostic("bad-interval", message, ("HealthCheck", "Interval"))
