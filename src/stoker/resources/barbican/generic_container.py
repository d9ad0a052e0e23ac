"""OS::Barbican::GenericContainer: a group of secrets with names that the user chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.barbican.containers import NAME, SecretContainer, refs_in
from stoker.resources.base import declare
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class GenericContainer(SecretContainer):
    """A container of any secrets."""

    type_name = "OS::Barbican::GenericContainer"
    description = "A group of secrets."
    support = since("6.0.0")
    kind = "generic"

    properties = {
        "name": NAME,
        "secrets": declare.records(
            "Secrets, each with a name in the container.",
            entries={
                "name": declare.string("Name of the secret in the container.", required=True),
                "ref": declare.by_name("barbican.secret", "Secret", required=True),
            },
        ),
    }

    def secret_refs(self, properties: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Return name and URL of each secret."""
        return [(entry["name"], entry["ref"]) for entry in properties.get("secrets") or ()]

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name and the secrets of the live container."""
        secrets = [{"name": name, "ref": ref} for name, ref in refs_in(found).items()]
        return {"name": found.get("name"), "secrets": secrets}
