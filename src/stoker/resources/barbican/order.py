"""OS::Barbican::Order: a request for a key or certificate.

The name is that of the key, so a lost create is found by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.clouds.objects.kinds import KINDS
from stoker.clouds.objects.payloads import payload_of
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.barbican.containers import refs_in
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource, rename_fields
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_ORDERS = collection("key-manager", "order", id_field="order_ref")
_CONTAINERS = KINDS["key-manager", "container"]


class Order(RestResource):
    """An order."""

    type_name = "OS::Barbican::Order"
    not_importable = "its id is a URL"
    description = "Requests a key, key pair or certificate from the key manager."
    service = "key-manager"
    has_data = True
    support = since("2014.2")
    collection = _ORDERS
    marker_field = ""
    readiness = Readiness(pending=frozenset({"PENDING"}), reason="error_reason")
    secrets = frozenset({"private_key"})

    properties = {
        "algorithm": declare.string("Algorithm of the key."),
        "bit_length": declare.integer("Length of the key in bits."),
        "ca_id": declare.string("Id of the certificate authority.", support=since("5.0.0")),
        "expiration": declare.checked(
            "expiration", "Expiration time, such as 2030-01-31T12:00:00."
        ),
        "mode": declare.string("Mode of the algorithm."),
        "name": declare.string("Name of the key. If not given, a name is generated."),
        "pass_phrase": declare.string(
            "Passphrase of the private key.", sensitive=True, support=since("5.0.0")
        ),
        "payload_content_type": declare.string("Media type of the payload."),
        "profile": declare.string("Profile of the certificate authority.", support=since("5.0.0")),
        "request_data": declare.string("Certificate signing request.", support=since("5.0.0")),
        "request_type": declare.choice(
            ["stored-key", "simple-cmc", "custom"],
            "Type of the certificate request.",
            support=since("5.0.0"),
        ),
        "source_container_ref": declare.by_name(
            "barbican.container",
            "Container with the key pair for the certificate",
            support=since("5.0.0"),
        ),
        "subject_dn": declare.string("Subject of the certificate.", support=since("5.0.0")),
        "type": declare.choice(
            ["key", "asymmetric", "certificate"],
            "What is made.",
            required=True,
            support=since("5.0.0"),
        ),
    }
    attributes = {
        "certificate": Attribute("The certificate.", Type.STRING),
        "container_ref": Attribute("URL of the container with the result.", Type.STRING),
        "intermediates": Attribute("Intermediate certificates.", Type.STRING),
        "order_ref": Attribute("URL of the order.", Type.STRING),
        "private_key": Attribute("The private key.", Type.STRING),
        "public_key": Attribute("The public key.", Type.STRING),
        "secret_ref": Attribute("URL of the resulting secret.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "show": declare.SHOW,
    }

    def creation_body(self, call: Call) -> Object:
        """Return type and details of the order."""
        fields = rename_fields(call.properties, {"source_container_ref": "container_ref"})
        kind = fields.pop("type")
        return {"type": kind, "meta": {**fields, "name": fields.get("name") or call.physical_name}}

    def candidates(self, call: Call) -> list[Object]:
        """Return the orders for a key with this name."""
        name = self.creation_body(call)["meta"]["name"]
        listed = _ORDERS.select(call.cloud)
        return [item for item in listed if (item.get("meta") or {}).get("name") == name]

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return type and details of the live order."""
        meta = dict(found.get("meta") or {})
        container = meta.pop("container_ref", None)
        observed = {name: value for name, value in meta.items() if name in self.properties}
        return {**observed, "type": found.get("type"), "source_container_ref": container}

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes, with keys and certificates from the container."""
        read = dict(super().read(call))
        container = read["show"].get("container_ref")
        found = None if container is None else _CONTAINERS.find(call.cloud, container)
        for name, ref in refs_in(found or {}).items():
            if name in self.attributes:
                read[name] = payload_of(call.cloud, ref)
        return read

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that orders for keys have algorithm and length."""
        kind = properties.get("type")
        if kind not in ("key", "asymmetric"):
            return []
        return [
            Diagnostic("invalid-order", f"{name} must be given with the type {kind}", ("type",))
            for name in ("algorithm", "bit_length")
            if properties.get(name) is None
        ]
