"""Lists the objects of a project: networks, servers, volumes, and their links.

Each kind is read with one list, so a project of hundreds of objects takes about ten requests.
Values that the service chooses for everybody, such as the allocation pool of a whole subnet, are
left out. Names take the place of ids of images, flavors and external networks, which other clouds
have under the same names. Called on a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from stoker.clouds.objects.collection import Collection, Object
from stoker.clouds.objects.collections import (
    FLAVORS,
    FLOATING_IPS,
    IMAGES,
    KEYPAIRS,
    NETWORKS,
    PORTS,
    ROUTERS,
    SECURITY_GROUPS,
    SERVERS,
    SUBNETS,
    VOLUMES,
)
from stoker.clouds.objects.server_ports import is_for_server
from stoker.kernel.lazy import lazy
from stoker.schema.inventory import ExistingObject

_MARKER = "stoker:"
_NAMED_FLAVORS = "2.47"  # microversion whose servers embed the name of their flavor
_TAGS = "2.26"
_INTERFACES = (
    "network:router_interface",
    "network:router_interface_distributed",
    "network:ha_router_replicated_interface",
)
_MODES = ("attached_mode", "readonly")
_EVERYWHERE = ("0.0.0.0/0", "::/0")
_DEFAULT = "default"  # security group that every project has


def inventory(cloud: Any, project_id: str) -> list[ExistingObject]:
    """Return the objects of a project, those first that others refer to."""
    return list(_Inventory(cloud, project_id).objects())


class _Inventory:
    """The lists of one project; each is read once."""

    def __init__(self, cloud: Any, project_id: str) -> None:
        self._cloud = cloud
        self._project_id = project_id

    def objects(self) -> Iterator[ExistingObject]:
        kinds: tuple[Callable[[], Iterable[ExistingObject]], ...] = (
            self._networks,
            self._subnets,
            self._routers,
            self._interfaces,
            self._groups,
            self._described_ports,
            self._floating_ips,
            self._keys,
            self._volumes,
            self._servers,
            self._attachments,
        )
        for kind in kinds:
            yield from kind()

    def _own(self, collection: Collection, **query: Any) -> list[Object]:
        """Return the objects of a collection that belong to the project."""
        owners = (None, self._project_id)
        found = collection.select(self._cloud, **query)
        return [each for each in found if each.get("project_id", each.get("tenant_id")) in owners]

    @lazy
    def all_networks(self) -> Mapping[str, Object]:
        """All visible networks by id."""
        return {each["id"]: each for each in NETWORKS.select(self._cloud)}

    @lazy
    def ports(self) -> list[Object]:
        """The ports of the project, with those of its routers and servers."""
        return self._own(PORTS)

    @lazy
    def groups(self) -> Mapping[str, Object]:
        """The security groups of the project by id."""
        return {each["id"]: each for each in self._own(SECURITY_GROUPS)}

    @lazy
    def servers(self) -> list[Object]:
        """The servers of the project."""
        return SERVERS.select(self._cloud, SERVERS.detailed)

    @lazy
    def volumes(self) -> list[Object]:
        """The volumes of the project."""
        return VOLUMES.select(self._cloud, VOLUMES.detailed or f"{VOLUMES.path}/detail")

    def _network_name(self, network_id: str) -> str:
        """Return the name of an external network, or its id if the name is not unique."""
        name = self.all_networks.get(network_id, {}).get("name")
        same = [each for each in self.all_networks.values() if each.get("name") == name]
        return str(name) if name and len(same) == 1 else network_id

    def _networks(self) -> Iterator[ExistingObject]:
        for net in self.all_networks.values():
            if net.get("project_id", net.get("tenant_id")) != self._project_id:
                continue
            unusual = {
                "admin_state_up": _unless(net, "admin_state_up", True),
                "shared": _unless(net, "shared", False),
                "port_security_enabled": _unless(net, "port_security_enabled", True),
                "dns_domain": net.get("dns_domain"),
                "tags": net.get("tags"),
            }
            yield _existing("OS::Neutron::Net", net, unusual)

    def _subnets(self) -> Iterator[ExistingObject]:
        for subnet in self._own(SUBNETS):
            network = ip_network(subnet["cidr"])
            first, last = str(network[1]), str(network[-2 if network.version == 4 else -1])
            gateway = subnet.get("gateway_ip")
            start = str(network[2]) if gateway == first else first
            pools = subnet.get("allocation_pools") or []
            properties = {
                "network": subnet["network_id"],
                "cidr": subnet["cidr"],
                "ip_version": _unless(subnet, "ip_version", 4),
                "enable_dhcp": _unless(subnet, "enable_dhcp", True),
                "gateway_ip": None if gateway == first else gateway or "",
                "dns_nameservers": subnet.get("dns_nameservers"),
                "host_routes": subnet.get("host_routes"),
                "allocation_pools": None if pools == [{"start": start, "end": last}] else pools,
                "ipv6_address_mode": subnet.get("ipv6_address_mode"),
                "ipv6_ra_mode": subnet.get("ipv6_ra_mode"),
                "tags": subnet.get("tags"),
            }
            if gateway is None:
                properties["gateway_ip"] = None
            yield _existing("OS::Neutron::Subnet", subnet, properties, ("network",))

    def _routers(self) -> Iterator[ExistingObject]:
        for router in self._own(ROUTERS):
            gateway = router.get("external_gateway_info") or {}
            info: dict[str, Any] = (
                {"network": self._network_name(gateway["network_id"])} if gateway else {}
            )
            if gateway.get("enable_snat") is False:
                info["enable_snat"] = False
            properties = {
                "admin_state_up": _unless(router, "admin_state_up", True),
                "external_gateway_info": info,
                "tags": router.get("tags"),
            }
            yield _existing("OS::Neutron::Router", router, properties)

    def _interfaces(self) -> Iterator[ExistingObject]:
        # Ports of routers may belong to no project.
        for port in PORTS.select(self._cloud):
            if port.get("device_owner") not in _INTERFACES:
                continue
            for address in port.get("fixed_ips") or ():
                router, subnet = port["device_id"], address["subnet_id"]
                yield ExistingObject(
                    "OS::Neutron::RouterInterface",
                    f"{router}:subnet_id={subnet}",
                    "",
                    {"router": router, "subnet": subnet},
                    ("subnet",),
                )

    def _groups(self) -> Iterator[ExistingObject]:
        for group in self.groups.values():
            if group.get("name") == _DEFAULT:
                continue
            rules = group.get("security_group_rules") or ()
            properties = {
                "description": _description(group),
                "stateful": _unless(group, "stateful", True),
                "rules": [_rule(each, group["id"]) for each in rules if not _is_usual(each)],
            }
            yield _existing("OS::Neutron::SecurityGroup", group, properties)

    def _described_ports(self) -> Iterator[ExistingObject]:
        for port in self.ports:
            owner = str(port.get("device_owner") or "")
            if owner.startswith("network:") or is_for_server(port):
                continue
            groups = port.get("security_groups") or []
            if [self.groups.get(each, {}).get("name") for each in groups] == [_DEFAULT]:
                groups = []
            properties = {
                "network": port["network_id"],
                "admin_state_up": _unless(port, "admin_state_up", True),
                "security_groups": groups,
                "port_security_enabled": _unless(port, "port_security_enabled", True),
                "allowed_address_pairs": [
                    {"ip_address": each["ip_address"]}
                    for each in port.get("allowed_address_pairs") or ()
                ],
                "binding:vnic_type": _unless(port, "binding:vnic_type", "normal"),
                "tags": port.get("tags"),
            }
            yield _existing("OS::Neutron::Port", port, properties)

    def _floating_ips(self) -> Iterator[ExistingObject]:
        for found in self._own(FLOATING_IPS):
            properties = {
                "floating_network": self._network_name(found["floating_network_id"]),
                "port_id": found.get("port_id"),
            }
            yield ExistingObject(
                "OS::Neutron::FloatingIP", found["id"], "", _given(properties), ("port_id",)
            )

    def _keys(self) -> Iterator[ExistingObject]:
        for pair in KEYPAIRS.select(self._cloud):
            properties = {"name": pair["name"], "public_key": pair.get("public_key")}
            yield ExistingObject("OS::Nova::KeyPair", pair["name"], pair["name"], properties)

    def _volumes(self) -> Iterator[ExistingObject]:
        for volume in self.volumes:
            properties = {
                "size": volume.get("size"),
                "description": _description(volume),
                "metadata": _without_modes(volume.get("metadata") or {}),
            }
            yield _existing("OS::Cinder::Volume", volume, properties)

    def _servers(self) -> Iterator[ExistingObject]:
        images = {each["id"]: str(each.get("name") or "") for each in IMAGES.select(self._cloud)}
        flavors = {each["id"]: str(each["name"]) for each in FLAVORS.select(self._cloud)}
        names = list(images.values())
        for server in self.servers:
            image_id = (server.get("image") or {}).get("id")
            name = images.get(image_id, "")
            image = name if name and names.count(name) == 1 else image_id
            flavor = server.get("flavor") or {}
            own = [port for port in self.ports if port.get("device_id") == server["id"]]
            properties = {
                "image": image,
                "flavor": flavor.get("original_name") or flavors.get(flavor.get("id", "")),
                "key_name": server.get("key_name"),
                "networks": [{"port": port["id"]} for port in own],
                "metadata": server.get("metadata"),
            }
            if image is None:
                attached = server.get("os-extended-volumes:volumes_attached") or [{}]
                properties["block_device_mapping_v2"] = [
                    {"volume_id": attached[0].get("id"), "boot_index": 0}
                ]
            yield _existing("OS::Nova::Server", server, properties)

    def _attachments(self) -> Iterator[ExistingObject]:
        booted = {
            volumes[0]["id"]
            for server in self.servers
            if not server.get("image")
            and (volumes := server.get("os-extended-volumes:volumes_attached"))
        }
        for volume in self.volumes:
            for each in volume.get("attachments") or ():
                if volume["id"] in booted:
                    continue
                properties = {"instance_uuid": each["server_id"], "volume_id": volume["id"]}
                yield ExistingObject(
                    "OS::Cinder::VolumeAttachment", volume["id"], "", properties, ("instance_uuid",)
                )


def _existing(
    type_name: str, found: Object, properties: Mapping[str, Any], part_of: tuple[str, ...] = ()
) -> ExistingObject:
    name = str(found.get("name") or "")
    specified = _given({"name": name, **properties})
    return ExistingObject(type_name, str(found["id"]), name, specified, part_of)


def _given(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties with a value."""
    return {key: value for key, value in properties.items() if value not in (None, "", [], {})}


def _unless(found: Object, field: str, usual: Any) -> Any:
    """Return the value of a field, or None for the usual one."""
    value = found.get(field, usual)
    return None if value == usual else value


def _description(found: Object) -> str | None:
    text = str(found.get("description") or "")
    return None if text.startswith(_MARKER) else text


def _is_usual(rule: Object) -> bool:
    """Return whether a rule is one of those that every new group has: all outgoing traffic."""
    restricted = ("protocol", "port_range_min", "remote_ip_prefix", "remote_group_id")
    return rule.get("direction") == "egress" and not any(rule.get(each) for each in restricted)


def _without_modes(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a volume without those that the service sets."""
    return {key: value for key, value in metadata.items() if key not in _MODES}


def _rule(rule: Object, group_id: str) -> dict[str, Any]:
    prefix = rule.get("remote_ip_prefix")
    found = _given(
        {
            "direction": _unless(rule, "direction", "ingress"),
            "ethertype": _unless(rule, "ethertype", "IPv4"),
            "protocol": rule.get("protocol"),
            "port_range_min": rule.get("port_range_min"),
            "port_range_max": rule.get("port_range_max"),
            "remote_ip_prefix": None if prefix in _EVERYWHERE else prefix,
            "description": rule.get("description"),
        }
    )
    remote = rule.get("remote_group_id")
    if remote:
        found["remote_mode"] = "remote_group_id"
        found |= {} if remote == group_id else {"remote_group_id": remote}
    return found
