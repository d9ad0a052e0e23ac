"""Facts about the cloud that a template test imagines: names, attributes and failures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.shared.groups.instance_groups import COPIED, LAUNCHED, POOLS
from stoker.schema.constraints import CustomCheck
from stoker.schema.properties import Type
from stoker.schema.resource_type import Call, ResourceType
from stoker.template.source.source import read

# Custom constraints by the plain names that test files use.
CONSTRAINTS: Mapping[str, str] = {
    "flavors": "nova.flavor",
    "images": "glance.image",
    "key_pairs": "nova.keypair",
    "networks": "neutron.network",
    "subnets": "neutron.subnet",
    "routers": "neutron.router",
    "security_groups": "neutron.security_group",
    "volumes": "cinder.volume",
    "volume_types": "cinder.vtype",
}
_ADDRESS = re.compile(r"(^|_)(address|ip)$|^P\w+(Ip|IpAddress)$|^accessIPv4$")
_TEST_NET = "192.0.2"  # addresses for documentation, RFC 5737
_INTENT = "[a-z2-7]{12}"  # the end of the names of nested stacks


class ImaginedCloud(Struct, frozen=True):
    """Facts about objects. Keys of ``attributes`` and ``failures`` are types, names or paths."""

    # Names that exist, by custom constraint; every name exists for other constraints.
    names: Mapping[str, Collection[str]] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)  # reasons for failed creates

    def fault(self, check: CustomCheck) -> str | None:
        """Return why a custom constraint rejects a value, or None."""
        known = self.names.get(check.constraint)
        if known is None or check.value in known:
            return None
        kind = check.constraint.rpartition(".")[2].replace("_", " ")
        return f"there is no {kind} {check.value!r} in the test's cloud: {', '.join(sorted(known))}"

    def failure(self, type_: ResourceType, call: Call) -> str | None:
        """Return why the create of a resource fails, or None."""
        found = [reason for key, reason in self.failures.items() if _concerns(key, type_, call)]
        return found[0] if found else None

    def attributes_of(self, type_: ResourceType, call: Call) -> dict[str, Any]:
        """Return the values of all attributes of a resource."""
        values = {
            name: _imagined(name, attribute.type, type_, call)
            for name, attribute in type_.attributes.items()
        }
        for key, given in self.attributes.items():
            if _concerns(key, type_, call):
                values.update(given)
        return values


def recorded_data(type_: ResourceType, call: Call) -> dict[str, Any]:
    """Return the data that a type records at its create, and that types of groups read."""
    recorded = _RECORDED.get(type_.type_name)
    return recorded(call) if recorded is not None else {}


def _concerns(key: str, type_: ResourceType, call: Call) -> bool:
    if "::" in key:
        return key == type_.type_name
    *above, name = key.split("/")
    if name != call.name:
        return False
    return not above or _stack_below(tuple(above)).match(call.stack.name) is not None


@lru_cache(maxsize=1024)
def _stack_below(path: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the name of the nested stack at a path of resources."""
    inner = "".join(f"-{re.escape(name)}-{_INTENT}" for name in path)
    return re.compile(rf".*?{inner}$")


def _imagined(name: str, kind: Type | None, type_: ResourceType, call: Call) -> Any:
    """Return the value of an attribute: of the property with its name, or a plausible one."""
    if call.properties.get(name) is not None:
        return call.properties[name]
    known = _KNOWN.get((type_.type_name.rpartition("::")[2], name)) or _KNOWN.get(("", name))
    if known is not None:
        return known(call)
    if kind in (Type.STRING, None) and _ADDRESS.search(name):
        return _address(call)
    if kind in _EMPTY:
        return _EMPTY[kind]()
    return f"{call.name}.{name}"


def _random(call: Call) -> str:
    digest = hashlib.sha512(f"{call.stack.name}/{call.name}".encode()).hexdigest()
    return (digest * 4)[: call.properties.get("length") or 32]


def _launched(call: Call) -> dict[str, Any]:
    """Return the properties of instances; those of a server to copy from are imagined."""
    given = {name: value for name, value in call.properties.items() if value is not None}
    source = given.pop("InstanceId", None)
    copied = {name: f"{name}-of-{source}" for name in ("ImageId", "InstanceType")}
    return {**copied, **given} if source is not None else given


def _pools(call: Call) -> list[dict[str, Any]]:
    """Return a pool for each listener."""
    return [
        {"pool": f"{call.name}-pool-{number}", "protocol_port": listener["InstancePort"]}
        for number, listener in enumerate(call.properties["Listeners"])
    ]


def _separate_outputs(call: Call) -> dict[str, Any]:
    """Return plausible values of the outputs of a stack in another region."""
    try:
        data = read(str(call.properties["template"])).data
    except DiagnosticError:
        return {}
    outputs = data.get("outputs") or data.get("Outputs")
    names = outputs if isinstance(outputs, Mapping) else {}
    return {name: f"{call.name}.{name}" for name in names}


def _address(call: Call) -> str:
    """Return an address that is the same in each run."""
    digest = hashlib.sha256(f"{call.stack.name}/{call.name}".encode()).digest()
    return f"{_TEST_NET}.{digest[0] % 254 + 1}"


_EMPTY: Mapping[Any, Callable[[], Any]] = {
    Type.LIST: list,
    Type.MAP: dict,
    Type.INTEGER: int,
    Type.NUMBER: int,
    Type.BOOLEAN: bool,
}
# By the last part of the type's name, or "" for all types, and attribute.
_KNOWN: Mapping[tuple[str, str], Callable[[Call], Any]] = {
    ("", "show"): lambda call: {},
    ("", "cidr"): lambda call: f"{_TEST_NET}.0/24",
    ("", "ip_version"): lambda call: 4,
    ("", "mac_address"): lambda call: (
        f"fa:16:3e:00:00:{int(_address(call).rpartition('.')[2]):02x}"
    ),
    ("", "accessIPv6"): lambda call: f"2001:db8::{_address(call).rpartition('.')[2]}",
    ("", "fixed_ips"): lambda call: [
        {"subnet_id": f"subnet-of-{call.name}", "ip_address": _address(call)}
    ],
    ("Server", "networks"): lambda call: {"private": [_address(call)]},
    ("Server", "addresses"): lambda call: {"private": [{"addr": _address(call), "version": 4}]},
    ("LaunchConfiguration", "show"): lambda call: {**dict.fromkeys(COPIED), **_launched(call)},
    ("Stack", "outputs"): _separate_outputs,
    ("RandomString", "value"): _random,
    ("WaitCondition", "data"): lambda call: "{}",  # the data of all signals as JSON
}
# By type.
_RECORDED: Mapping[str, Callable[[Call], dict[str, Any]]] = {
    "AWS::AutoScaling::LaunchConfiguration": lambda call: {LAUNCHED: _launched(call)},
    "AWS::ElasticLoadBalancing::LoadBalancer": lambda call: {POOLS: _pools(call)},
}
