"""OS::Barbican::CertificateContainer: a certificate with its key and intermediate certificates."""

from __future__ import annotations

from stoker.resources.barbican.containers import NAME, SecretContainer, part
from stoker.schema.support import since


class CertificateContainer(SecretContainer):
    """A container of a certificate."""

    type_name = "OS::Barbican::CertificateContainer"
    description = (
        "Secrets of a certificate: the certificate, its key and intermediate certificates."
    )
    support = since("6.0.0")
    kind = "certificate"

    properties = {
        "certificate_ref": part("Certificate"),
        "intermediates_ref": part("Intermediate certificates"),
        "name": NAME,
        "private_key_passphrase_ref": part("Passphrase of the private key"),
        "private_key_ref": part("Private key"),
    }
