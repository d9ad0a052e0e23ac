"""OS::Barbican::GenericContainer: any secrets, under names that the user gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.clouds.collection import Object
from stoker.resources.barbican.containers import NAME, SecretContainer, refs_in
from stoker.resources.base import declare
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class GenericContainer(SecretContainer):
    """A container of any secrets."""

    type_name = "OS::Barbican::GenericContainer"
    description = "Secrets that belong together."
    support = since("6.0.0")
    kind = "generic"

    properties = {
        "name": NAME,
        "secrets": declare.records(
            "The secrets, each with its name in the container.",
            entries={
                "name": declare.string("Name of the secret in the container.", required=True),
                "ref": declare.by_name("barbican.secret", "Secret", required=True),
            },
        ),
    }

    def secret_refs(self, properties: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Return each name and the address of its secret."""
        return [(entry["name"], entry["ref"]) for entry in properties.get("secrets") or ()]

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name and the secrets of the live container."""
        secrets = [{"name": name, "ref": ref} for name, ref in refs_in(found).items()]
        return {"name": found.get("name"), "secrets": secrets}
