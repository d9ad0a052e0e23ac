"""Keys and secrets."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import FakeResponse, RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case


class PlainText(FakeResponse):
    """An answer that is no JSON."""

    def __init__(self, text: str) -> None:
        super().__init__(200, None)
        self.text = text
        self.content = text.encode()


def _payload(service: Service, match: Any, body: Any) -> PlainText:
    secret = service.objects("/secrets").get(match[1])
    if secret is None or secret.get("payload") is None:
        raise RefusalError(404, "Not Found. Sorry but your secret has no payload.")
    return PlainText(secret["payload"])


def _without_payload(item: Object) -> Object:
    hidden = {"payload", "payload_content_type", "payload_content_encoding"}
    kind = item["payload_content_type"]
    told = {key: value for key, value in item.items() if key not in hidden}
    return {**told, "content_types": {"default": kind}} if kind else told


def _container(body: Object) -> Object:
    refs = [entry["secret_ref"] for entry in body.get("secret_refs") or ()]
    if len(refs) != len(set(refs)):
        raise RefusalError(400, "Duplicate secret ids are not allowed.")
    return {"status": "ACTIVE", "consumers": []}


def _order(item: Object) -> Object:
    """An order, which returns times to the microsecond."""
    meta = dict(item["meta"])
    if meta.get("expiration"):
        meta["expiration"] += ".000000"
    return {**item, "meta": meta}


def service() -> Service:
    """The key manager."""
    return Service(
        (
            Kind(
                "/secrets",
                "secret",
                "secrets",
                "name algorithm bit_length mode expiration payload payload_content_type"
                " payload_content_encoding secret_type",
                id_field="secret_ref",
                bare=True,
                made=lambda body: {"status": "ACTIVE"},
                told=_without_payload,
            ),
            Kind(
                "/containers",
                "container",
                "containers",
                "name type! secret_refs",
                id_field="container_ref",
                bare=True,
                made=_container,
            ),
            Kind(
                "/orders",
                "order",
                "orders",
                "type! meta!",
                id_field="order_ref",
                bare=True,
                states=States("PENDING", "ACTIVE"),
                made=lambda body: {"secret_ref": "http://service.example/v1/secrets/made"},
                told=_order,
            ),
        ),
        (("GET", r"/secrets/([^/]+)/payload", _payload),),
    )


SECRET = Case(
    "OS::Barbican::Secret",
    {"payload": "open", "payload_content_type": "text/plain"},
    other={"secret_type": "passphrase"},
    unreported=frozenset({"payload", "payload_content_type"}),
)
CASES = (
    SECRET,
    Case(
        "OS::Barbican::Secret",
        {
            "algorithm": "aes",
            "bit_length": 256,
            "expiration": "2099-01-31T12:00:00",
            "mode": "cbc",
            "payload": "AAECAw==",
            "payload_content_encoding": "base64",
            "payload_content_type": "application/octet-stream",
            "secret_type": "symmetric",
        },
        other={"bit_length": 128},
        unreported=frozenset({"payload", "payload_content_encoding", "payload_content_type"}),
    ),
    Case(
        "OS::Barbican::Order",
        {
            "type": "key",
            "algorithm": "aes",
            "bit_length": 256,
            "expiration": "2099-01-31T12:00:00",
            "mode": "cbc",
            "payload_content_type": "application/octet-stream",
        },
        other={"bit_length": 128},
    ),
    Case(
        "OS::Barbican::Order",
        {"type": "asymmetric", "algorithm": "rsa", "bit_length": 1024, "pass_phrase": "secret"},
        other={"bit_length": 2048},
        unreported=frozenset({"pass_phrase"}),
    ),
    Case(
        "OS::Barbican::GenericContainer",
        {"secrets": [{"name": "door", "ref": "@secret"}]},
        other={"secrets": []},
        dependencies={"@secret": SECRET},
    ),
    Case(
        "OS::Barbican::RSAContainer",
        {
            "private_key_ref": "@private",
            "private_key_passphrase_ref": "@phrase",
            "public_key_ref": "@public",
        },
        other={"public_key_ref": "@secret"},
        dependencies=dict.fromkeys(("@secret", "@private", "@phrase", "@public"), SECRET),
    ),
    Case(
        "OS::Barbican::CertificateContainer",
        {"certificate_ref": "@secret"},
        other={"intermediates_ref": "@other", "private_key_ref": "@key"},
        dependencies={"@secret": SECRET, "@other": SECRET, "@key": SECRET},
    ),
)
