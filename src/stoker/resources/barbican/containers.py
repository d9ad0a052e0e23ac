"""Base of the container types, which group secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call

NAME = declare.string("Name of the object. If not given, a name is generated.")
ATTRIBUTES: Mapping[str, Attribute] = {
    "consumers": Attribute("Consumers that are registered for the container.", Type.LIST),
    "container_ref": Attribute("URL of the container.", Type.STRING),
    "secret_refs": Attribute("URLs of the secrets, by name in the container.", Type.MAP),
    "status": Attribute("Status of the object.", Type.STRING),
    "show": declare.SHOW,
}


def part(words: str) -> Property:
    """Declare a secret of a container."""
    return declare.by_name("barbican.secret", words)


class SecretContainer(RestResource):
    """A container with a property for each secret."""

    service = "key-manager"
    not_importable = "its id is a URL"
    collection = KINDS["key-manager", "container"]
    marker_field = ""
    kind: ClassVar[str]  # Barbican's name for containers of this type.
    attributes = ATTRIBUTES

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the given secrets."""
        refs = [{"name": name, "secret_ref": ref} for name, ref in self.secret_refs(properties)]
        return {"type": self.kind, "secret_refs": refs}

    def secret_refs(self, properties: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Return name and URL of each secret."""
        for name, ref in properties.items():
            if name != "name" and ref is not None:
                yield name.removesuffix("_ref"), ref

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return name and secrets of the live container."""
        refs = {f"{name}_ref": ref for name, ref in refs_in(found).items()}
        return {**dict.fromkeys(self.properties), **refs, "name": found.get("name")}

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the attributes, with the secrets by name."""
        own = super().attributes_of(call, found)
        return {**own, "secret_refs": refs_in(found)} if "secret_refs" in found else own


def refs_in(found: Object) -> dict[str, str]:
    """Return the URLs of the secrets in a container, by name."""
    return {entry["name"]: entry["secret_ref"] for entry in found.get("secret_refs") or ()}
