"""Containers: secrets that belong together, each with its part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stoker.clouds.collection import Object
from stoker.clouds.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call

NAME = declare.string("Name of the object. If not given, a name is generated.")
ATTRIBUTES: Mapping[str, Attribute] = {
    "consumers": Attribute("Who has registered as a user of the container.", Type.LIST),
    "container_ref": Attribute("Address of the container.", Type.STRING),
    "secret_refs": Attribute("Addresses of the secrets, by their part.", Type.MAP),
    "status": Attribute("Status of the object.", Type.STRING),
    "show": declare.SHOW,
}


def part(words: str) -> Property:
    """Return a secret in a container."""
    return declare.by_name("barbican.secret", words)


class SecretContainer(RestResource):
    """A container whose parts have properties of their own."""

    service = "key-manager"
    collection = KINDS["key-manager", "container"]
    marker_field = ""
    kind: ClassVar[str]  # the service's name for containers of this type
    attributes = ATTRIBUTES

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the parts that are given."""
        refs = [{"name": name, "secret_ref": ref} for name, ref in self.secret_refs(properties)]
        return {"type": self.kind, "secret_refs": refs}

    def secret_refs(self, properties: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Return each part and the address of its secret."""
        for name, ref in properties.items():
            if name != "name" and ref is not None:
                yield name.removesuffix("_ref"), ref

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name and the parts of the live container."""
        refs = {f"{name}_ref": ref for name, ref in refs_in(found).items()}
        return {**dict.fromkeys(self.properties), **refs, "name": found.get("name")}

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the attributes, with the secrets by their parts."""
        own = super().attributes_of(call, found)
        return {**own, "secret_refs": refs_in(found)} if "secret_refs" in found else own


def refs_in(found: Object) -> dict[str, str]:
    """Return the addresses of the secrets in a container, by their part."""
    return {entry["name"]: entry["secret_ref"] for entry in found.get("secret_refs") or ()}
