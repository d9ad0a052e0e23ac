"""Key pairs: generated or imported, and their fingerprints."""

import asyncio
import base64
import hashlib
import importlib
from datetime import UTC, datetime
from types import ModuleType

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from localcloud.compute.model.key_material import BITS, KeyMaterial, colons, pem
from localcloud.compute.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, NotFoundError, RequestContext


def _ssh_fingerprint(public_key: str) -> str:
    raw = base64.b64decode(public_key.split()[1])
    return colons(hashlib.md5(raw, usedforsecurity=False).hexdigest())


def read_ssh(public_key: str) -> KeyMaterial:
    """Return an SSH public key with its fingerprint; raises :class:`BadRequestError`."""
    try:
        serialization.load_ssh_public_key(public_key.strip().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        if not public_key.startswith(("sk-ssh-", "sk-ecdsa-")):
            raise BadRequestError(
                "Keypair data is invalid: it is not an SSH public key."
            ) from error
    try:
        return KeyMaterial(public_key, _ssh_fingerprint(public_key))
    except (ValueError, IndexError) as error:
        raise BadRequestError("Keypair data is invalid: it is not an SSH public key.") from error


def read_x509(public_key: str) -> KeyMaterial:
    """Return an X.509 certificate in PEM with its fingerprint; raises :class:`BadRequestError`."""
    material: KeyMaterial = _certificates().read(public_key)
    return material


def _certificates() -> ModuleType:
    # By name: few make such key pairs, and loading X.509 takes 25 ms of every start.
    return importlib.import_module("localcloud.compute.model.certificates")


def _generate_ssh() -> KeyMaterial:
    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    text = f"{public.decode()} Generated-by-Nova"
    return KeyMaterial(text, _ssh_fingerprint(text), pem(key))


async def generate(kind: str, user_id: str) -> KeyMaterial:
    """Make a new pair of type ``ssh`` or ``x509``; on a thread, as it takes long."""
    if kind == "x509":
        material: KeyMaterial = await asyncio.to_thread(
            _certificates().generate, user_id, datetime.now(UTC)
        )
        return material
    return await asyncio.to_thread(_generate_ssh)


def find(state: State, user_id: str, name: str) -> Document:
    """Return a user's key pair; raises :class:`NotFoundError`."""
    keypair = state.keypairs.get(f"{user_id}/{name}")
    if keypair is None:
        raise NotFoundError(f"Keypair {name} not found for user {user_id}")
    return keypair


def chosen(state: State, context: RequestContext, name: str) -> Document:
    """Return the part of a key pair that a server keeps; raises :class:`BadRequestError` for an
    unknown one.
    """
    keypair = state.keypairs.get(f"{context.user_id}/{name}")
    if keypair is None:
        raise BadRequestError("Invalid key_name provided.")
    return {k: keypair[k] for k in ("name", "type", "public_key")}
