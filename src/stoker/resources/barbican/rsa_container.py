"""OS::Barbican::RSAContainer: a key pair with the passphrase of the private key."""

from __future__ import annotations

from stoker.resources.barbican.containers import NAME, SecretContainer, part
from stoker.schema.support import since


class RSAContainer(SecretContainer):
    """A container of a key pair."""

    type_name = "OS::Barbican::RSAContainer"
    description = "Secrets of a key pair: both keys and the passphrase."
    support = since("6.0.0")
    kind = "rsa"

    properties = {
        "name": NAME,
        "private_key_passphrase_ref": part("Passphrase of the private key"),
        "private_key_ref": part("Private key"),
        "public_key_ref": part("Public key"),
    }
