"""OS::Barbican::CertificateContainer: a certificate, with its key and those that vouch for it."""

from __future__ import annotations

from stoker.resources.barbican.containers import NAME, SecretContainer, part
from stoker.schema.support import since


class CertificateContainer(SecretContainer):
    """A container of a certificate."""

    type_name = "OS::Barbican::CertificateContainer"
    description = "A certificate and what belongs to it, as secrets that belong together."
    support = since("6.0.0")
    kind = "certificate"

    properties = {
        "certificate_ref": part("Certificate"),
        "intermediates_ref": part("Certificates of those that vouch for it"),
        "name": NAME,
        "private_key_passphrase_ref": part("Passphrase of the private key"),
        "private_key_ref": part("Private key"),
    }
