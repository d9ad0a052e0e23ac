"""Converts Compose files to HOT: each service becomes a server that runs its container.

Networks get a router. Named volumes are attached and mounted. Published ports become rules of a
security group, with a floating IP. Variables become parameters.
Containers reach each other by the names of their services, as in Compose. The format is that of
https://github.com/compose-spec/compose-spec/blob/main/spec.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from itertools import chain, count
from typing import Any

from stoker.cli.authoring.conversion.containers import (
    NAME,
    Container,
    NamedVolume,
    container_of,
    setup_script,
)
from stoker.cli.authoring.conversion.losses import Converted, Losses, list_in, map_in
from stoker.cli.authoring.conversion.variables import Variables
from stoker.kernel.diagnostics import Path

_VERSION = "2021-04-16"
_DEFAULT = "default"
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
        self._ids: dict[tuple[str, str], str] = {("", name): name for name in _PARAMETERS}
        self._ids["", "router"] = "router"
        self._variables = Variables(lambda variable: self._id("variable", variable))

    def run(self) -> Converted:
        for section in self._data:
            if section not in _SECTIONS and not section.startswith("x-"):
                self._losses.add((section,), f'servers have nothing like "{section}"')
        services: dict[str, Container] = {}
        for name, service in self._data["services"].items():
            path = ("services", name)
            if NAME.fullmatch(str(name)) is None:
                self._losses.add(path, "it is no name of a service")
                continue
            container = container_of(str(name), service, path, self._losses)
            if container is not None:
                services[str(name)] = container
                self._id("server", str(name))  # servers have the names of their services
        self._networks(services)
        for volume in self._volumes(services):
            self._parameters[self._id("size", volume)] = {
                "type": "number",
                "description": f"Size of the volume {volume} in GiB.",
                "default": 1,
                "constraints": [{"range": {"min": 1}}],
            }
            size = {"get_param": self._id("size", volume)}
            self._resources[self._id("volume", volume)] = {
                "type": "OS::Cinder::Volume",
                "deletion_policy": "retain",  # as "docker compose down" keeps it
                "properties": {"size": size},
            }
        for container in services.values():
            self._server(container, services)
        self._parameters |= self._variables.parameters()
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
        declared = map_in(self._data, "volumes", (), self._losses)
        for name in owners:
            if map_in(declared, name, ("volumes",), self._losses).get("external"):
                self._losses.add(("volumes", name), "an external volume is made anew")
            yield name

    def _networks(self, services: Mapping[str, Container]) -> None:
        used = {network for each in services.values() for network in each.networks or (_DEFAULT,)}
        declared = map_in(self._data, "networks", (), self._losses)
        written = {
            name: map_in(declared, name, ("networks",), self._losses) for name in sorted(used)
        }
        self._cidrs = {name: cidr for name in written if (cidr := self._cidr(name, written[name]))}
        self._resources["router"] = {
            "type": "OS::Neutron::Router",
            "properties": {"external_gateway_info": {"network": {"get_param": "public_network"}}},
        }
        for name, settings in written.items():
            for key in settings:
                if key == "external" and settings[key]:
                    self._losses.add(("networks", name), "an external network is made anew")
                elif key not in ("external", "ipam", "driver", "name"):
                    message = f'a network has nothing like "{key}"'
                    self._losses.add(("networks", name, key), message)
            cidr = self._cidrs.setdefault(name, self._free_cidr())
            network, subnet = self._id("network", name), self._id("subnet", name)
            self._resources[network] = {"type": "OS::Neutron::Net"}
            self._resources[subnet] = {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": network}, "cidr": cidr},
            }
            self._resources[self._id("interface", name)] = {
                "type": "OS::Neutron::RouterInterface",
                "properties": {
                    "router": {"get_resource": "router"},
                    "subnet": {"get_resource": subnet},
                },
            }

    def _cidr(self, name: str, settings: Mapping[str, Any]) -> str | None:
        """Return the IPv4 range that a network declares, if any."""
        path: Path = ("networks", name)
        ipam = map_in(settings, "ipam", path, self._losses)
        found = None
        for index, config in enumerate(list_in(ipam, "config", (*path, "ipam"), self._losses)):
            here = (*path, "ipam", "config", index)
            text = config.get("subnet") if isinstance(config, Mapping) else None
            try:
                found = found or str(IPv4Network(str(text), strict=False))
            except ValueError:
                self._losses.add(here, "a network has one IPv4 range: this one is left out")
        return found

    def _free_cidr(self) -> str:
        """Return a range that overlaps no other one."""
        used = [IPv4Network(each) for each in self._cidrs.values()]
        candidates = IPv4Network("10.0.0.0/8").subnets(new_prefix=24)
        return str(next(each for each in candidates if not any(map(each.overlaps, used))))

    def _id(self, kind: str, name: str) -> str:
        """Return the name of a resource or a parameter, which no other one has."""
        if (kind, name) not in self._ids:
            plain = re.sub(r"\W", "_", name)
            plain = plain if plain[0].isalpha() else f"_{plain}"
            named = plain if kind in ("server", "variable") else f"{plain}_{kind}"
            numbered = (f"{plain}_{kind}_{number}" for number in count(2))
            taken = set(self._ids.values())
            candidates = chain((named, f"{plain}_{kind}"), numbered)
            self._ids[kind, name] = next(each for each in candidates if each not in taken)
        return self._ids[kind, name]

    def _port(self, container: Container, network: str) -> str:
        """Return the name of a server's port in a network."""
        several = len(container.networks) > 1
        return self._id(f"port_{network}" if several else "port", container.name)

    def _server(self, container: Container, services: Mapping[str, Container]) -> None:
        name = container.name
        group = self._id("security_group", name)
        self._resources[group] = {
            "type": "OS::Neutron::SecurityGroup",
            "properties": {"rules": self._rules(container)},
        }
        ports = []
        for network in container.networks or (_DEFAULT,):
            port = self._port(container, network)
            ports.append({"port": {"get_resource": port}})
            self._resources[port] = {
                "type": "OS::Neutron::Port",
                "properties": {
                    "network": {"get_resource": self._id("network", network)},
                    "fixed_ips": [{"subnet": {"get_resource": self._id("subnet", network)}}],
                    "security_groups": [{"get_resource": group}],
                },
            }
        neighbours = [each for each in container.depends_on if each in services]
        owned = [each for each in container.volumes if self._owners[each.name] == name]
        server: dict[str, Any] = {"type": "OS::Nova::Server"}
        # the script needs the internet, and so the router
        networks = container.networks or (_DEFAULT,)
        server["depends_on"] = [self._id("interface", network) for network in networks]
        server["depends_on"] += [self._id("server", each) for each in neighbours]
        server["properties"] = {
            "image": {"get_param": "image"},
            "flavor": {"get_param": "flavor"},
            "networks": ports,
            "user_data_format": "RAW",
            "user_data": self._user_data(container, neighbours, owned, services),
        }
        if container.labels:
            server["properties"]["metadata"] = {
                key: self._variables.in_template(value) for key, value in container.labels
            }
        self._resources[self._id("server", name)] = server
        for volume in owned:
            self._resources[self._id(f"attachment_{volume.name}", name)] = {
                "type": "OS::Cinder::VolumeAttachment",
                "properties": {
                    "instance_uuid": {"get_resource": self._id("server", name)},
                    "volume_id": {"get_resource": self._id("volume", volume.name)},
                },
            }
        if any(not port.is_local for port in container.published):
            self._publish(container, ports[0])

    def _rules(self, container: Container) -> list[dict[str, Any]]:
        """Return rules for published ports from everywhere, and for all from the networks."""
        rules: list[dict[str, Any]] = [
            {
                "protocol": port.protocol,
                "port_range_min": self._number(port.first),
                "port_range_max": self._number(port.last),
                "remote_ip_prefix": "0.0.0.0/0",
            }
            for port in container.published
            if not port.is_local
        ]
        networks = container.networks or (_DEFAULT,)
        return [*rules, *({"remote_ip_prefix": self._cidrs[each]} for each in networks)]

    def _number(self, text: str) -> Any:
        return int(text) if text.isdecimal() else self._variables.in_template(text)

    def _publish(self, container: Container, port: Any) -> None:
        address = self._id("floating_ip", container.name)
        network = (container.networks or (_DEFAULT,))[0]
        self._resources[address] = {
            "type": "OS::Neutron::FloatingIP",
            "depends_on": self._id("interface", network),
            "properties": {
                "floating_network": {"get_param": "public_network"},
                "port_id": port["port"],
            },
        }
        self._outputs[self._id("address", container.name)] = {
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
        script, params = setup_script(container, neighbours, owned, self._variables)
        for neighbour in neighbours:
            other = services[neighbour]
            networks = other.networks or (_DEFAULT,)
            shared = [each for each in networks if each in (container.networks or (_DEFAULT,))]
            port = self._port(other, (shared or networks)[0])
            params[f"@ADDRESS_OF_{neighbour}@"] = {"get_attr": [port, "fixed_ips", 0, "ip_address"]}
        for volume in owned:
            params[f"@VOLUME_{volume.name}@"] = {"get_resource": self._id("volume", volume.name)}
        if not params:
            return script
        return {"str_replace": {"template": script, "params": params}}
