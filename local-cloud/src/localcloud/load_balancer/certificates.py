"""Certificates of listeners: taken from the key manager, as Octavia takes them from Barbican."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from msgspec import Struct

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.key_manager.api import access
from localcloud.key_manager.model.payloads import PayloadCipher
from localcloud.key_manager.model.state import PREFIX, State
from localcloud.web.http import ApiError, BadRequestError, RequestContext

# That listeners can speak.
VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


class _Certificate(Struct, frozen=True):
    chain: bytes  # the certificate and those of its issuers, in PEM
    key: bytes  # unencrypted, in PEM

    def names(self) -> set[str]:
        """Return the host names for which it is."""
        found = x509.load_pem_x509_certificate(self.chain)
        named = {
            str(attribute.value)
            for attribute in found.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        }
        try:
            other = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        except x509.ExtensionNotFound:
            return named
        return named | set(other.value.get_values_for_type(x509.DNSName))


class Certificates:
    """The certificates for TLS of listeners."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._keys = State(cloud)

    def check(self, who: RequestContext, listener: Document) -> None:
        """Raise the API's 400 for a reference that the caller may not read, or that is no use.

        Listeners that end no TLS have none, which is checked elsewhere.
        """
        if listener["protocol"] != "TERMINATED_HTTPS":
            return
        for reference in references(listener):
            for secret in self._secrets(reference).values():
                if not access.may_read(who, secret):
                    raise _unreadable(reference)
            self._context(reference, listener.get("tls_versions") or [])

    def context(self, listener: Document) -> ssl.SSLContext:
        """Return how a listener speaks TLS; raises the API's 400 where a certificate is gone."""
        versions = listener["tls_versions"]
        first, *others = [self._context(each, versions) for each in references(listener)]
        by_name = {name: context for context, names in (first, *others) for name in names}

        def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            host_name = name or ""
            wildcard = f"*.{host_name.partition('.')[2]}"
            connection.context = by_name.get(host_name) or by_name.get(wildcard) or first[0]

        if others:
            first[0].sni_callback = choose
        return first[0]

    def _context(self, reference: str, versions: list[str]) -> tuple[ssl.SSLContext, set[str]]:
        try:
            certificate = self._certificate(reference)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            with _as_file(certificate.chain) as chain, _as_file(certificate.key) as key:
                context.load_cert_chain(chain, key)
            names = certificate.names()
        except (ssl.SSLError, ValueError, TypeError) as error:
            raise BadRequestError(
                f"Could not read X509 from {reference}: it must be a certificate container, or a"
                " secret with a PKCS12 bundle without a passphrase."
            ) from error
        spoken = [VERSIONS[name] for name in versions if name in VERSIONS]
        context.minimum_version = min(spoken, default=ssl.TLSVersion.TLSv1_2)
        context.maximum_version = max(spoken, default=ssl.TLSVersion.TLSv1_3)
        context.set_alpn_protocols(["http/1.1"])
        return context, names

    def _certificate(self, reference: str) -> _Certificate:
        secrets = self._secrets(reference)
        seal = PayloadCipher(self._cloud.settings.cloud_dir / "secrets.key")
        held = {name: seal.opened(secret) for name, secret in secrets.items()}
        if "" in held:
            key, certificate, others = pkcs12.load_key_and_certificates(held[""], None)
            if key is None or certificate is None:
                raise ValueError("no key or no certificate")
            chain = b"".join(each.public_bytes(Encoding.PEM) for each in (certificate, *others))
        else:
            phrase = held.get("private_key_passphrase")
            key = load_pem_private_key(held.get("private_key", b""), phrase)
            chain = held["certificate"] + b"\n" + held.get("intermediates", b"")
        plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return _Certificate(chain, plain)

    def _secrets(self, reference: str) -> dict[str, Document]:
        """Return the secrets of a container by their names in it, or the one secret as ''."""
        url = f"{self._cloud.settings.url}{PREFIX}/v1/"
        kind, _, object_id = reference.removeprefix(url).rstrip("/").partition("/")
        try:
            if not reference.startswith(url):
                raise _unreadable(reference)
            if kind == "secrets":
                found = {"": self._keys.secret(object_id)}
            else:
                refs = self._keys.container(object_id)["secrets"]
                found = {ref["name"]: self._keys.secret(ref["secret_id"]) for ref in refs}
        except ApiError as error:
            raise _unreadable(reference) from error
        complete = "" in found or "certificate" in found
        if not complete or not all(secret["payload"] for secret in found.values()):
            raise _unreadable(reference)
        return found


def references(listener: Document) -> list[str]:
    """Return where the certificates of a listener are, the default one first."""
    first = listener.get("default_tls_container_ref")
    return [*([first] if first else []), *(listener.get("sni_container_refs") or [])]


def _unreadable(reference: str) -> ApiError:
    return BadRequestError(f"Could not retrieve certificate: {reference}")


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Let a library that reads files read this, which never is on a disk."""
    descriptor = os.memfd_create("certificate")
    try:
        os.write(descriptor, content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
