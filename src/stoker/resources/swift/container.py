"""OS::Swift::Container: a container of the object store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.storage.object_containers import ObjectContainer, set_account
from stoker.resources.shared.text_values import as_texts
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since


class Container(ObjectContainer):
    """A container of objects."""

    type_name = "OS::Swift::Container"
    description = "A container of the object store."
    name_property = "name"
    purge_property = "PurgeOnDelete"

    properties = {
        "PurgeOnDelete": declare.boolean(
            "Delete the objects together with the container.",
            default=False,
            support=since("2015.1"),
        ),
        "X-Account-Meta": declare.mapping("Metadata of the whole account.", default={}),
        "X-Container-Meta": declare.mapping("Metadata of the container.", default={}),
        "X-Container-Read": declare.string("Access list for reading objects."),
        "X-Container-Write": declare.string("Access list for writing objects."),
        "name": declare.string("Name of the container. If not given, a name is generated."),
    }
    attributes = {
        "BytesUsed": Attribute("Total size of the objects in bytes.", Type.INTEGER),
        "DomainName": Attribute("Host of the object store.", Type.STRING),
        "HeadContainer": Attribute("Headers of the container.", Type.MAP),
        "ObjectCount": Attribute("Number of objects.", Type.INTEGER),
        "RootURL": Attribute("URL of the account.", Type.STRING),
        "WebsiteURL": Attribute("URL of the container.", Type.STRING),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Create the container, and set metadata of the account."""
        account = as_texts(call.properties.get("X-Account-Meta"))
        if account:
            set_account(call, {f"X-Account-Meta-{key}": text for key, text in account.items()})
        return super().create(call)

    def headers(self, properties: Mapping[str, Any], call: Call) -> dict[str, str]:
        """Return the headers for access lists and metadata."""
        metadata = as_texts(properties.get("X-Container-Meta"))
        headers = {f"X-Container-Meta-{key}": text for key, text in metadata.items()}
        for name in ("X-Container-Read", "X-Container-Write"):
            if properties.get(name):
                headers[name] = properties[name]
        return headers
