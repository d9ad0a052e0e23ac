"""Makes objects in the throw-away cloud that a template uses but does not create.

The service says which objects it misses, in the findings of a preview and in the reason of a failed
create. Each gets a substitute with its name; it is like the object of the same name in the source
cloud if there is one, otherwise a small one. Images, flavors and key pairs get the same id. Others
get a new one, and texts that name the old id are changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from stoker.cli.client.client import Client, RefusedError
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.rehearsal.stack_state import objects_of

_MISSING = re.compile(r"there is no ([a-z ]+?) ['\"]([^'\"]+)['\"]")
_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_EXTERNAL = re.compile(r"external|floating|public|gateway|\bext\b|[-_]ext|ext[-_]|\bpool\b|fip")
_CIDR = "10.{}.0.0/24"
_FIRST_CIDR = 201

_MOST_ROUNDS = 10  # Nested stacks are checked after their parents.
_PUBLIC_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHJlaGVhcnNhbHJlaGVhcnNhbHJlaGVhcnNhbHJlaGVh substitute"
)

Body = dict[str, Any]


class Substitute(Struct, frozen=True):
    """An object that was made."""

    kind: str
    name: str  # name or id, as the template has it
    like: str  # its size and the like, in words
    source: bool  # It is like an object of the source cloud.
    id: str = ""  # its id, if texts must name it instead

    def __str__(self) -> str:
        origin = "as in the source cloud" if self.source else "assumed"
        return f"{self.kind} {self.name} ({self.like}, {origin})"


class Missing(Struct, frozen=True):
    """An object that is not there."""

    kind: str
    name: str
    place: str = ""  # of its use in the template

    @property
    def is_id(self) -> bool:
        """Return whether the template names an id."""
        return bool(_ID.fullmatch(self.name))


def missing_in(findings: Iterable[Mapping[str, Any]]) -> list[Missing]:
    """Return the objects that findings of the service miss."""
    return [
        Missing(found[1], found[2], str(each.get("path") or ""))
        for each in findings
        if (found := _MISSING.search(str(each.get("message") or "")))
    ]


class Substitutes:
    """The substitutes of a rehearsal."""

    def __init__(self, throwaway: Client, administrator: Client, source: Client | None) -> None:
        """Make objects with the clients of the throw-away cloud."""
        self._user = throwaway
        self._administrator = administrator
        self._source = source
        self.made: list[Substitute] = []
        self.ids: set[str] = set()  # of all objects of substitutes, such as subnets
        self._cidrs = 0
        self._has_renamed = False  # The network "public" has the name of another.

    def make_missing(self, findings: Iterable[Mapping[str, Any]]) -> bool:
        """Make substitutes for objects that findings miss; return whether there are new ones."""
        known = {(each.kind, each.name) for each in self.made}
        missing = {(each.kind, each.name): each for each in missing_in(findings)}
        new = [each for key, each in missing.items() if key not in known and each.kind in _MAKERS]
        if not new:
            return False
        before = objects_of(self._user)
        self.made += [_MAKERS[each.kind](self, each) for each in new]
        self.ids |= objects_of(self._user).keys() - before
        return True

    def send(self, request: Callable[[Any], Any], body: Mapping[str, Any]) -> None:
        """Send a request with a body; while it is refused, make substitutes and repeat it."""
        for _ in range(_MOST_ROUNDS):
            try:
                request(self.fitted(body))
                return
            except RefusedError as refusal:
                if not self.make_missing(refusal.diagnostics):
                    raise
        raise InputError("the template uses more and more objects that do not exist")

    def fitted(self, body: Mapping[str, Any]) -> Any:
        """Return a body with the ids of substitutes in place of the ids that it names."""
        text = json.dumps(body)
        for each in self.made:
            text = text.replace(each.name, each.id) if each.id else text
        return json.loads(text)

    def _known(self, service: str, path: str, key: str, missing: Missing) -> Body:
        """Return the object of the source cloud, or an empty one."""
        if self._source is None:
            return {}
        field = "id" if missing.is_id else "name"
        try:
            listed = self._source.get(service, path)[key]
        except CommandError:
            return {}
        matches = [dict(each) for each in listed if str(each.get(field)) == missing.name]
        return matches[0] if matches else {}

    def image(self, missing: Missing) -> Substitute:
        """Make an image that boots the root file system of this machine."""
        field = "id" if missing.is_id else "name"
        query = f"/v2/images?{field}={quote(missing.name)}&limit=1000"
        known = self._known("image", query, "images", missing)
        body = {
            "name": known.get("name") or missing.name,
            "stoker:kind": "host",
            "min_disk": known.get("min_disk") or 0,
            "min_ram": known.get("min_ram") or 0,
        }
        if missing.is_id:
            body["id"] = missing.name
        self._administrator.call("image", "POST", "/v2/images", body)
        return Substitute("image", missing.name, "this machine's file system", bool(known))

    def flavor(self, missing: Missing) -> Substitute:
        """Make a flavor of the same size."""
        known = self._known("compute", "/flavors/detail", "flavors", missing)
        size = {name: int(known.get(name) or least) for name, least in _LEAST_FLAVOR.items()}
        body = {"name": known.get("name") or missing.name, **size}
        if missing.is_id or known:
            body["id"] = known.get("id") or missing.name
        self._administrator.call("compute", "POST", "/flavors", {"flavor": body})
        like = f"{size['vcpus']} vCPU, {size['ram']} MiB, {size['disk']} GiB"
        return Substitute("flavor", missing.name, like, bool(known))

    def key_pair(self, missing: Missing) -> Substitute:
        """Make a key pair; its private key is of no use."""
        public, known = _PUBLIC_KEY, False
        if self._source is not None:
            try:
                found = self._source.get("compute", f"/os-keypairs/{quote(missing.name, safe='')}")
                public, known = found["keypair"]["public_key"], True
            except CommandError:
                pass
        pair = {"name": missing.name, "public_key": public}
        self._user.call("compute", "POST", "/os-keypairs", {"keypair": pair})
        return Substitute("key pair", missing.name, "a public key", known)

    def network(self, missing: Missing) -> Substitute:
        """Make a network with a subnet; external if it is so in the source cloud."""
        known = self._known("network", "/v2.0/networks", "networks", missing)
        external = known.get("router:external")
        if external is None:
            external = bool(_EXTERNAL.search(f"{missing.place} {missing.name}".lower()))
        if external and (missing.is_id or not self._has_renamed):
            return self._public(missing, is_known=bool(known))
        body = {"name": known.get("name") or missing.name, "shared": True}
        body["router:external"] = bool(external)
        response = self._administrator.call("network", "POST", "/v2.0/networks", {"network": body})
        network_id = response["network"]["id"]
        subnets = self._known_subnets(known)
        for subnet in subnets or [self._assumed_subnet(external=bool(external))]:
            self._subnet({**subnet, "network_id": network_id})
        like = "external" if external else "with a subnet"
        return self._with_id("network", missing, like, network_id, bool(known))

    def _public(self, missing: Missing, *, is_known: bool) -> Substitute:
        """Use the external network of the cloud: its addresses can be reached from this machine."""
        query = {"router:external": True}
        [public, *_] = self._user.get("network", "/v2.0/networks", query)["networks"]
        if not missing.is_id:
            body = {"network": {"name": missing.name}}
            self._administrator.call("network", "PUT", f"/v2.0/networks/{public['id']}", body)
            self._has_renamed = True
        return self._with_id("network", missing, "external", public["id"], is_known)

    def subnet(self, missing: Missing) -> Substitute:
        """Make a subnet in a network of its own."""
        known = self._known("network", "/v2.0/subnets", "subnets", missing)
        body: Body = {"network": {"name": f"network of {missing.name}", "shared": True}}
        response = self._administrator.call("network", "POST", "/v2.0/networks", body)
        fields = {key: known[key] for key in _SUBNET if known.get(key)}
        subnet = {"name": missing.name, **(fields or self._assumed_subnet(external=False))}
        subnet_id = self._subnet({**subnet, "network_id": response["network"]["id"]})
        return self._with_id("subnet", missing, str(subnet["cidr"]), subnet_id, bool(known))

    def security_group(self, missing: Missing) -> Substitute:
        """Make a security group with the same rules, as far as they name no other objects."""
        known = self._known("network", "/v2.0/security-groups", "security_groups", missing)
        body = {"security_group": {"name": known.get("name") or missing.name}}
        response = self._user.call("network", "POST", "/v2.0/security-groups", body)
        group_id = response["security_group"]["id"]
        rules = [r for r in known.get("security_group_rules") or () if not r["remote_group_id"]]
        for rule in rules:
            fields = {key: rule[key] for key in _RULE if rule.get(key) is not None}
            new_rule = {"security_group_rule": {**fields, "security_group_id": group_id}}
            try:
                self._user.call("network", "POST", "/v2.0/security-group-rules", new_rule)
            except CommandError:
                continue  # It has the rules of a new group already.
        like = f"{len(rules)} rules"
        return self._with_id("security group", missing, like, group_id, bool(known))

    def router(self, missing: Missing) -> Substitute:
        """Make a router to the outside."""
        known = self._known("network", "/v2.0/routers", "routers", missing)
        networks = self._user.get("network", "/v2.0/networks", {"router:external": True})
        gateway = {"network_id": networks["networks"][0]["id"]}
        body = {"name": known.get("name") or missing.name, "external_gateway_info": gateway}
        response = self._user.call("network", "POST", "/v2.0/routers", {"router": body})
        return self._with_id(
            "router", missing, "to the outside", response["router"]["id"], bool(known)
        )

    def volume_type(self, missing: Missing) -> Substitute:
        """Make a volume type."""
        body = {"volume_type": {"name": missing.name}}
        response = self._administrator.call("block-storage", "POST", "/types", body)
        type_id = response["volume_type"]["id"]
        return self._with_id("volume type", missing, "any volume", type_id, known=False)

    def _with_id(
        self, kind: str, missing: Missing, like: str, new_id: str, known: bool
    ) -> Substitute:
        return Substitute(kind, missing.name, like, known, new_id if missing.is_id else "")

    def _known_subnets(self, network: Body) -> list[Body]:
        if self._source is None or not network:
            return []
        query = {"network_id": network["id"]}
        try:
            found = self._source.get("network", "/v2.0/subnets", query)["subnets"]
        except CommandError:
            return []
        if network.get("router:external"):
            return []  # Floating addresses must be in the local cloud's own range.
        return [{key: each[key] for key in _SUBNET if each.get(key)} for each in found]

    def _assumed_subnet(self, *, external: bool) -> Body:
        self._cidrs += 1
        cidr = _CIDR.format(_FIRST_CIDR + self._cidrs)
        return {"name": "subnet", "cidr": cidr, "ip_version": 4, "enable_dhcp": not external}

    def _subnet(self, body: Body) -> str:
        response = self._administrator.call("network", "POST", "/v2.0/subnets", {"subnet": body})
        return str(response["subnet"]["id"])


_LEAST_FLAVOR = {"vcpus": 1, "ram": 512, "disk": 1}
_SUBNET = ("name", "cidr", "ip_version", "gateway_ip", "allocation_pools", "enable_dhcp")
_RULE = (
    "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix",
)  # fmt: skip
_MAKERS: Mapping[str, Callable[[Substitutes, Missing], Substitute]] = {
    "image": Substitutes.image,
    "flavor": Substitutes.flavor,
    "key pair": Substitutes.key_pair,
    "network": Substitutes.network,
    "subnet": Substitutes.subnet,
    "security group": Substitutes.security_group,
    "router": Substitutes.router,
    "volume type": Substitutes.volume_type,
}
