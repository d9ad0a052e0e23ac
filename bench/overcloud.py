"""A request with the shape of TripleO's overcloud, as its client sends it.

That one has 817 resources in 315 stacks, 165 files and a body of 1.8 MB: roles with chains of
services, each service a nested stack that nests a common template, groups of servers with ports,
and outputs that merge the data of all services. The files here are generated, none is TripleO's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

SERVICES = {"Controller": 72, "Compute": 24, "BlockStorage": 13, "ObjectStorage": 12, "Ceph": 11}
PORTS = ("Storage", "StorageMgmt", "InternalApi", "Tenant", "External")
_VERSION = "rocky"
_KINDS = 99  # templates of services
_READERS = 4  # every fourth service uses the identifier of the deployment
_SCRIPTS = 45
_MAPS = ("EndpointMap", "Networks", "Settings")  # parameters that are maps
_DEFAULTS = 250  # defaults of parameters in the environment
_VALUES = 143  # resources of the root template that only compute


def overcloud() -> dict[str, Any]:
    """Return the body of the request."""
    counts = {f"{role}Count": 1 for role in SERVICES}
    defaults = {f"Setting{n}": f"value {n} of the overcloud" for n in range(_DEFAULTS)}
    types = {f"Overcloud::Services::S{n}": f"services/s{n}.yaml" for n in range(_KINDS)}
    types |= {f"Overcloud::{role}": f"roles/{role}.yaml" for role in SERVICES}
    types |= {f"Overcloud::Port::{name}": f"ports/{name}.yaml" for name in PORTS}
    types |= {f"Overcloud::Unused{n}": "OS::Heat::None" for n in range(220)}
    return {
        "stack_name": "overcloud",
        "template": _root(),
        "files": {name: _text(content) for name, content in _files().items()},
        "environment": {
            "resource_registry": types,
            "parameter_defaults": {
                **defaults,
                **counts,
                "DeployIdentifier": "1795867465",
                "Domain": "localdomain",
            },
        },
    }


def _text(content: str | Mapping[str, Any]) -> str:
    return content if isinstance(content, str) else json.dumps(content)


def _files() -> dict[str, str | Mapping[str, Any]]:
    files: dict[str, str | Mapping[str, Any]] = {
        f"scripts/{n}.sh": f"# step {n}\n" + f"run --step {n} --with 'an argument'\n" * 40
        for n in range(_SCRIPTS)
    }
    files |= {f"services/s{n}.yaml": _service(n) for n in range(_KINDS)}
    files |= {f"chains/{role}.yaml": _chain(role) for role in SERVICES}
    files |= {f"roles/{role}.yaml": _role() for role in SERVICES}
    files |= {f"ports/{name}.yaml": _port(name) for name in PORTS}
    return {
        **files,
        "common.yaml": _common(),
        "network.yaml": _network(),
        "network_of_services.yaml": _network_of_services(),
        "endpoints.yaml": _endpoints(),
        "vip.yaml": _vip(),
        "deployed.yaml": _vip(),
    }


def _template(
    parameters: Iterable[str], resources: Mapping[str, Any], outputs: Mapping[str, Any]
) -> dict[str, Any]:
    described = "A parameter of many services."
    text: dict[str, Any] = {"type": "string", "default": "", "description": described}
    return {
        "heat_template_version": _VERSION,
        "parameters": {
            name: {**text, "type": "json", "default": {}} if name in _MAPS else text
            for name in parameters
        },
        "resources": resources,
        "outputs": {name: {"value": value} for name, value in outputs.items()},
    }


def _value(value: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": value}}


def _param(*way: Any) -> dict[str, Any]:
    return {"get_param": list(way) if len(way) > 1 else way[0]}


def _passed(*names: str) -> dict[str, Any]:
    return {name: _param(name) for name in names}


def _service(number: int) -> dict[str, Any]:
    names = [f"Setting{(number * 7 + n) % _DEFAULTS}" for n in range(25)]
    settings = {
        f"service{number}::part{n}::option": {
            "str_replace": {
                "template": "DOMAIN/VALUE/ADDRESS",
                "params": {
                    "DOMAIN": _param("Domain"),
                    "VALUE": _param(name),
                    "ADDRESS": _param("EndpointMap", f"Endpoint{n % 40}", "uri"),
                },
            }
        }
        for n, name in enumerate(names)
    }
    tasks: list[dict[str, Any]] = [
        {"name": f"task {n} of service {number}", "when": "step|int == 1", "command": "run " * 12}
        for n in range(6)
    ]
    if number % _READERS == 0:
        tasks[0]["environment"] = {"IDENTIFIER": _param("DeployIdentifier")}
    common = {
        "type": "common.yaml",
        "properties": _passed("EndpointMap", "Networks", "Role"),
    }
    outputs = {
        "role_data": {
            "service_name": f"service{number}",
            "config_settings": {"map_merge": [{"get_attr": ["Settings", "value"]}, settings]},
            "volumes": {"get_attr": ["Common", "volumes"]},
            "host_prep_tasks": tasks,
        }
    }
    parameters = ["EndpointMap", "Networks", "Role", "Domain", *dict.fromkeys(names)]
    parameters += ["DeployIdentifier"] * (number % _READERS == 0)
    resources = {"Common": common, "Settings": _value({"role": _param("Role"), **settings})}
    return _template(parameters, resources, outputs)


def _common() -> dict[str, Any]:
    volumes = [f"/etc/part{n}:/etc/part{n}:ro" for n in range(20)]
    value = _value([*volumes, {"get_param": "Role"}])
    parameters = ("EndpointMap", "Networks", "Role")
    return _template(parameters, {"V": value}, {"volumes": {"get_attr": ["V", "value"]}})


def _chain(role: str) -> dict[str, Any]:
    first = list(SERVICES).index(role) * 5
    services = {
        f"Service{n}": {
            "type": f"Overcloud::Services::S{(first + n) % _KINDS}",
            "properties": _passed("EndpointMap", "Networks", "Role"),
        }
        for n in range(SERVICES[role])
    }
    data = [{"get_attr": [name, "role_data"]} for name in services]
    merged = {
        "yaql": {
            "expression": "$.data.where($ != null).select($.get(config_settings)).sum({})",
            "data": data,
        }
    }
    names = {"yaql": {"expression": "$.data.where($ != null).select($.service_name)", "data": data}}
    outputs = {
        "config_settings": {"get_attr": ["Merged", "value"]},
        "names": names,
        "tasks": {
            "list_concat": [{"get_attr": [n, "role_data", "host_prep_tasks"]} for n in services]
        },
    }
    resources = {**services, "Merged": _value(merged)}
    return _template(("EndpointMap", "Networks", "Role"), resources, outputs)


def _role() -> dict[str, Any]:
    ports = {
        f"{name}Port": {
            "type": f"Overcloud::Port::{name}",
            "properties": {"Node": _param("Node"), "Networks": _param("Networks")},
        }
        for name in PORTS
    }
    addresses = {name: {"get_attr": [f"{name}Port", "address"]} for name in PORTS}
    resources = {
        **ports,
        "Server": _value({"name": _param("Node"), "domain": _param("Domain")}),
        "Addresses": _value(addresses),
        "Hosts": _value({"list_join": [" ", [_param("Node"), _param("Domain")]]}),
        "Identity": _value(_param("DeployIdentifier")),
        "Hieradata": _value({"settings": _param("Settings"), "addresses": addresses}),
    }
    parameters = ("Node", "Networks", "Domain", "Settings", "DeployIdentifier")
    outputs = {"addresses": addresses, "hosts": {"get_attr": ["Hosts", "value"]}}
    return _template(parameters, resources, outputs)


def _port(name: str) -> dict[str, Any]:
    port = {
        "type": "OS::Neutron::Port",
        "properties": {"network": _param("Networks", name), "name": _param("Node")},
    }
    address = {"get_attr": ["Port", "fixed_ips", 0, "ip_address"]}
    resources = {"Port": port, "Address": _value(address)}
    return _template(
        ("Node", "Networks"), resources, {"address": {"get_attr": ["Address", "value"]}}
    )


def _network() -> dict[str, Any]:
    network = {"type": "OS::Neutron::Net", "properties": {"name": _param("Name")}}
    subnet = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "Net"}, "cidr": "10.0.0.0/24"},
    }
    resources = {"Net": network, "Subnet": subnet}
    return _template(("Name",), resources, {"name": {"get_resource": "Net"}})


def _network_of_services() -> dict[str, Any]:
    value = _value({f"Service{n}Network": PORTS[n % len(PORTS)] for n in range(_KINDS)})
    return _template((), {"Map": value}, {"map": {"get_attr": ["Map", "value"]}})


def _endpoints() -> dict[str, Any]:
    endpoint = {
        "host": _param("Domain"),
        "port": "5000",
        "uri": {"list_join": ["", ["http://", _param("Domain"), ":5000", "/v3" * 40]]},
    }
    value = {
        f"Endpoint{n}{kind}": endpoint for n in range(40) for kind in ("", "Admin", "Internal")
    }
    return _template(("Domain",), {"Map": _value(value)}, {"map": {"get_attr": ["Map", "value"]}})


def _vip() -> dict[str, Any]:
    value = _value({"list_join": [".", [_param("Name"), "vip"]]})
    return _template(("Name",), {"Address": value}, {"address": {"get_attr": ["Address", "value"]}})


def _root() -> dict[str, Any]:
    resources: dict[str, Any] = {
        f"{name}Network": {"type": "network.yaml", "properties": {"Name": name}} for name in PORTS
    }
    networks = {name: {"get_attr": [f"{name}Network", "name"]} for name in PORTS}
    resources["Networks"] = _value(networks)
    resources["ServiceNetworks"] = {"type": "network_of_services.yaml"}
    resources["Endpoints"] = {
        "type": "endpoints.yaml",
        "properties": {"Domain": _param("Domain")},
    }
    for n in range(3):
        resources[f"Vip{n}"] = {"type": "vip.yaml", "properties": {"Name": f"vip{n}"}}
    outputs: dict[str, Any] = {"EndpointMap": {"get_attr": ["Endpoints", "map"]}}
    for role in SERVICES:
        resources |= _of_role(role)
        outputs[f"{role}Names"] = {"get_attr": [f"{role}Chain", "names"]}
        outputs[f"{role}Hosts"] = {"get_attr": [f"{role}Group", "hosts"]}
    for n in range(_VALUES):
        resources[f"Value{n}"] = _value([_param("Domain"), {"get_attr": ["Vip0", "address"]}, n])
    parameters = ["Domain", "DeployIdentifier", *(f"{role}Count" for role in SERVICES)]
    return _template(parameters, resources, outputs)


def _of_role(role: str) -> dict[str, Any]:
    networks = {"get_attr": ["Networks", "value"]}
    chain = {
        "type": f"chains/{role}.yaml",
        "properties": {
            "EndpointMap": {"get_attr": ["Endpoints", "map"]},
            "Networks": networks,
            "Role": role,
        },
    }
    node = {
        "type": f"Overcloud::{role}",
        "properties": {
            "Node": f"{role}-%index%",
            "Networks": networks,
            "Domain": _param("Domain"),
            "Settings": {"get_attr": [f"{role}Chain", "config_settings"]},
            "DeployIdentifier": _param("DeployIdentifier"),
        },
    }
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": _param(f"{role}Count"), "resource_def": node},
    }
    return {f"{role}Chain": chain, f"{role}Group": group}
