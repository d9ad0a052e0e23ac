"""Converts Compose files to HOT: each service becomes a server that runs its container.

Networks get a router. Named volumes are attached and mounted. Published ports become rules of a
security group, with a floating IP. Variables become parameters.
Containers reach each other by the names of their services, as in Compose. The format is that of
https://github.com/compose-spec/compose-spec/blob/main/spec.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from stoker.cli.authoring.conversion.containers import (
    DOLLAR,
    Container,
    NamedVolume,
    container_of,
    setup_script,
)
from stoker.cli.authoring.conversion.losses import Converted, Losses
from stoker.kernel.diagnostics import Path

_VERSION = "2021-04-16"
_DEFAULT = "default"
_VARIABLE = re.compile(r"\$\$|\$\{(\w+)(?::?([-?+])([^}]*))?\}|\$([A-Za-z_]\w*)")
_SECRET = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|_KEY", re.IGNORECASE)
_SECTIONS = ("services", "networks", "volumes", "version", "name")
_PARAMETERS: Mapping[str, Any] = {
    "image": {
        "type": "string",
        "description": "Image of the servers: a Debian or Ubuntu with cloud-init.",
        "default": "debian-12",
        "constraints": [{"custom_constraint": "glance.image"}],
    },
    "flavor": {
        "type": "string",
        "description": "Size of the servers.",
        "default": "m1.small",
        "constraints": [{"custom_constraint": "nova.flavor"}],
    },
    "public_network": {
        "type": "string",
        "description": "Network of the floating IPs.",
        "default": "public",
        "constraints": [{"custom_constraint": "neutron.network"}],
    },
}


def is_compose(data: Any) -> bool:
    """Return whether a document is a Compose file."""
    services = data.get("services") if isinstance(data, Mapping) else None
    return isinstance(services, Mapping) and all(
        isinstance(each, Mapping) for each in services.values()
    )


def to_servers(data: Mapping[str, Any]) -> Converted:
    """Return a template in HOT with a server for each service."""
    return _Conversion(data).run()


class _Conversion:
    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._losses = Losses()
        self._resources: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._parameters: dict[str, Any] = dict(_PARAMETERS)
        self._cidrs: dict[str, str] = {}  # by network

    def run(self) -> Converted:
        for section in self._data:
            if section not in _SECTIONS and not section.startswith("x-"):
                self._losses.add((section,), f'servers have nothing like "{section}"')
        services: dict[str, Container] = {}
        for name, service in self._data["services"].items():
            path = ("services", name)
            container = container_of(name, service, path, self._losses)
            if container is not None:
                services[name] = container
        self._networks(services)
        for volume in self._volumes(services):
            self._parameters[f"{volume}_size"] = {
                "type": "number",
                "description": f"Size of the volume {volume} in GiB.",
                "default": 1,
                "constraints": [{"range": {"min": 1}}],
            }
            size = {"get_param": f"{volume}_size"}
            self._resources[_id("volume", volume)] = {
                "type": "OS::Cinder::Volume",
                "deletion_policy": "retain",  # as "docker compose down" keeps it
                "properties": {"size": size},
            }
        for container in services.values():
            self._server(container, services)
        made: dict[str, Any] = {
            "heat_template_version": _VERSION,
            "description": "Servers that run the containers of a Compose file.",
            "parameters": self._parameters,
            "resources": self._resources,
        }
        if self._outputs:
            made["outputs"] = self._outputs
        return Converted(made, tuple(self._losses.found))

    def _volumes(self, services: Mapping[str, Container]) -> Iterator[str]:
        """Yield the named volumes. One that several services mount stays with the first."""
        owners: dict[str, str] = {}
        for name, container in services.items():
            for volume in container.volumes:
                if volume.name in owners and owners[volume.name] != name:
                    path: Path = ("services", name, "volumes")
                    message = f"a volume is attached to one server: {owners[volume.name]} has it"
                    self._losses.add(path, message, "a share can be mounted by several servers")
                else:
                    owners[volume.name] = name
        self._owners = owners
        yield from owners

    def _networks(self, services: Mapping[str, Container]) -> None:
        used = {network for each in services.values() for network in each.networks or (_DEFAULT,)}
        declared = self._data.get("networks") or {}
        self._resources["router"] = {
            "type": "OS::Neutron::Router",
            "properties": {"external_gateway_info": {"network": {"get_param": "public_network"}}},
        }
        for number, name in enumerate(sorted(used)):
            written = declared.get(name) or {}
            if written.get("external"):
                self._losses.add(("networks", name), "an external network is made anew")
            configs = (written.get("ipam") or {}).get("config") or [{}]
            cidr = configs[0].get("subnet") or f"10.0.{number}.0/24"
            self._cidrs[name] = cidr
            network, subnet = _id("network", name), _id("subnet", name)
            self._resources[network] = {"type": "OS::Neutron::Net"}
            self._resources[subnet] = {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": network}, "cidr": cidr},
            }
            self._resources[_id("interface", name)] = {
                "type": "OS::Neutron::RouterInterface",
                "properties": {
                    "router": {"get_resource": "router"},
                    "subnet": {"get_resource": subnet},
                },
            }

    def _server(self, container: Container, services: Mapping[str, Container]) -> None:
        name = container.name
        group = _id("security_group", name)
        self._resources[group] = {
            "type": "OS::Neutron::SecurityGroup",
            "properties": {"rules": self._rules(container)},
        }
        ports = []
        for network in container.networks or (_DEFAULT,):
            port = _port(container, network)
            ports.append({"port": {"get_resource": port}})
            self._resources[port] = {
                "type": "OS::Neutron::Port",
                "properties": {
                    "network": {"get_resource": _id("network", network)},
                    "fixed_ips": [{"subnet": {"get_resource": _id("subnet", network)}}],
                    "security_groups": [{"get_resource": group}],
                },
            }
        neighbours = [each for each in container.depends_on if each in services]
        owned = [each for each in container.volumes if self._owners[each.name] == name]
        server: dict[str, Any] = {"type": "OS::Nova::Server"}
        # the script needs the internet, and so the router
        networks = container.networks or (_DEFAULT,)
        server["depends_on"] = [_id("interface", network) for network in networks]
        server["depends_on"] += [_name(each) for each in neighbours]
        server["properties"] = {
            "image": {"get_param": "image"},
            "flavor": {"get_param": "flavor"},
            "networks": ports,
            "user_data_format": "RAW",
            "user_data": self._user_data(container, neighbours, owned, services),
        }
        if container.labels:
            server["properties"]["metadata"] = dict(container.labels)
        self._resources[_name(name)] = server
        for volume in owned:
            self._resources[_id(f"attachment_{_plain(volume.name)}", name)] = {
                "type": "OS::Cinder::VolumeAttachment",
                "properties": {
                    "instance_uuid": {"get_resource": _name(name)},
                    "volume_id": {"get_resource": _id("volume", volume.name)},
                },
            }
        if container.published:
            self._publish(container, ports[0])

    def _rules(self, container: Container) -> list[dict[str, Any]]:
        """Return rules for published ports from everywhere, and for all from the networks."""
        rules: list[dict[str, Any]] = [
            {
                "protocol": protocol,
                "port_range_min": first,
                "port_range_max": last,
                "remote_ip_prefix": "0.0.0.0/0",
            }
            for first, last, protocol in container.published
        ]
        networks = container.networks or (_DEFAULT,)
        return [*rules, *({"remote_ip_prefix": self._cidrs[each]} for each in networks)]

    def _publish(self, container: Container, port: Any) -> None:
        address = _id("floating_ip", container.name)
        network = (container.networks or (_DEFAULT,))[0]
        self._resources[address] = {
            "type": "OS::Neutron::FloatingIP",
            "depends_on": _id("interface", network),
            "properties": {
                "floating_network": {"get_param": "public_network"},
                "port_id": port["port"],
            },
        }
        self._outputs[_id("address", container.name)] = {
            "description": f"Address of the service {container.name}.",
            "value": {"get_attr": [address, "floating_ip_address"]},
        }

    def _user_data(
        self,
        container: Container,
        neighbours: list[str],
        owned: list[NamedVolume],
        services: Mapping[str, Container],
    ) -> Any:
        script = setup_script(container, neighbours, owned)
        params: dict[str, Any] = {}
        for match in _VARIABLE.finditer(container.texts):
            if match.group() == "$$":
                params[DOLLAR] = "$"
            else:
                params[match.group()] = self._variable(*match.groups())
        for neighbour in neighbours:
            other = services[neighbour]
            networks = other.networks or (_DEFAULT,)
            shared = [each for each in networks if each in (container.networks or (_DEFAULT,))]
            port = _port(other, (shared or networks)[0])
            params[f"@ADDRESS_OF_{neighbour}@"] = {"get_attr": [port, "fixed_ips", 0, "ip_address"]}
        for volume in owned:
            params[f"@VOLUME_{volume.name}@"] = {"get_resource": _id("volume", volume.name)}
        if not params:
            return script
        return {"str_replace": {"template": script, "params": params}}

    def _variable(
        self, name: str | None, operator: str | None, word: str | None, plain: str | None
    ) -> Any:
        variable = name or plain or ""
        declared: dict[str, Any] = {"type": "string", "description": f"The variable {variable}."}
        if operator == "-":
            declared["default"] = word or ""
        if _SECRET.search(variable):
            declared["hidden"] = True
        self._parameters.setdefault(variable, declared)
        return {"get_param": variable}


def _port(container: Container, network: str) -> str:
    """Return the name of a server's port in a network."""
    return _id(f"port_{network}" if len(container.networks) > 1 else "port", container.name)


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _name(service: str) -> str:
    return _plain(service)


def _id(kind: str, name: str) -> str:
    return f"{_plain(name)}_{kind}"
