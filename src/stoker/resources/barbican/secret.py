"""OS::Barbican::Secret: a secret in the key manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.payloads import SECRETS, payload_in
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Secret(RestResource):
    """A secret."""

    type_name = "OS::Barbican::Secret"
    not_importable = "its id is a URL"
    description = "A secret in the key manager."
    service = "key-manager"
    support = since("2014.2")
    collection = SECRETS
    marker_field = ""
    readiness = Readiness(pending=frozenset({"PENDING"}))
    secrets = frozenset({"decrypted_payload"})

    properties = {
        "algorithm": declare.string("Algorithm of the key."),
        "bit_length": declare.at_least(0, "Length of the key in bits."),
        "expiration": declare.checked(
            "expiration", "Expiration time, such as 2030-01-31T12:00:00."
        ),
        "mode": declare.string("Mode of the algorithm."),
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "payload": declare.string("What is kept.", sensitive=True),
        "payload_content_encoding": declare.choice(
            ["base64"], "Encoding of the payload in the template."
        ),
        "payload_content_type": declare.choice(
            ["text/plain", "application/octet-stream"], "Media type of the payload."
        ),
        "secret_type": declare.choice(
            ["symmetric", "public", "private", "certificate", "passphrase", "opaque"],
            "Type of the secret.",
            default="opaque",
            support=since("5.0.0"),
        ),
    }
    attributes = {
        "decrypted_payload": Attribute(
            "Content of the secret. Content that is not text is given in base64.", Type.STRING
        ),
        "status": Attribute("Status of the object.", Type.STRING),
        "show": declare.SHOW,
    }

    def holds_data(self, properties: Mapping[str, Any]) -> bool:
        """Return whether users stored the payload. A payload of the template can be restored."""
        return properties.get("payload") is None

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes, with the content of the secret."""
        read = dict(super().read(call))
        return {**read, "decrypted_payload": payload_in(call.cloud, read["show"])}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that a payload has a type, and binary content an encoding."""
        kind = properties.get("payload_content_type")
        if properties.get("payload") is not None and kind is None:
            message = "payload_content_type must be given with payload"
            return [Diagnostic("invalid-secret", message, ("payload",))]
        if kind is not None and properties.get("payload") is None:
            message = "payload_content_type cannot be given without payload"
            return [Diagnostic("invalid-secret", message, ("payload_content_type",))]
        encoding = properties.get("payload_content_encoding")
        if kind == "application/octet-stream" and encoding is None:
            message = f"payload_content_encoding must be given with the type {kind}"
            return [Diagnostic("invalid-secret", message, ("payload_content_type",))]
        return []
