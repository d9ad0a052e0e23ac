"""Key pairs of type ``x509``: certificates that their user has signed."""

from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from localcloud.compute.model.key_material import BITS, KeyMaterial, colons, pem
from localcloud.web.http import BadRequestError

_TEN_YEARS = timedelta(days=3650)


def read(public_key: str) -> KeyMaterial:
    """Return an X.509 certificate in PEM with its fingerprint; raises :class:`BadRequestError`."""
    try:
        certificate = x509.load_pem_x509_certificate(public_key.encode())
    except ValueError as error:
        raise BadRequestError("Keypair data is invalid: it is not an X.509 certificate.") from error
    digest = certificate.fingerprint(hashes.SHA1()).hex()  # noqa: S303  (the API's own choice)
    return KeyMaterial(public_key, colons(digest))


def generate(user_id: str, moment: datetime) -> KeyMaterial:
    """Make a key and a certificate for it that is valid for ten years from ``moment``."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user_id[:64])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment)
        .not_valid_after(moment + _TEN_YEARS)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = certificate.public_bytes(serialization.Encoding.PEM).decode()
    return KeyMaterial(public, read(public).fingerprint, pem(key))
