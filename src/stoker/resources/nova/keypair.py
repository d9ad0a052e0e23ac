"""OS::Nova::KeyPair: an SSH key pair.

If the user gives no public key, the pair is generated here, and only the public key is sent. The
private key is stored before Nova knows the pair, so that it cannot be lost with a response. After a
lost create, a pair with the physical name is ours if it has our key.

A pair cannot change: another key, type or user replaces it. Since names are unique for each user,
the old pair is deleted first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.faults import CloudError, describe, is_conflict
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import KEYPAIRS
from stoker.kernel.lazy import LazyModule
from stoker.resources.base import declare
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Finder, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since

# Only the service creates keys, and only it has this library.
rsa = LazyModule("cryptography.hazmat.primitives.asymmetric.rsa")
serialization = LazyModule("cryptography.hazmat.primitives.serialization")

_KEY_SIZE = 2048
# Key of the data: public key of a pair that was deleted for its replacement.
_RELEASED = "released"
_TYPES = "2.2"
_USERS = "2.10"


class KeyPair(ManagedType):
    """A key pair. Its name is its id."""

    type_name = "OS::Nova::KeyPair"
    id_form = "NAME"
    description = "An SSH key pair."
    service = "compute"
    unique = True
    link = "key pair"
    user_scoped = True
    release_deletes = True
    support = since("2014.1")

    properties = {
        "name": declare.string(
            "Name of the object. If not given, a name is generated.",
            required=True,
            constraints=(Length(min=1, max=255),),
        ),
        "public_key": declare.string("Public key. If not given, a new pair is generated."),
        "save_private_key": declare.boolean(
            "Store the private key of a generated pair and show it as an attribute.",
            default=False,
        ),
        "type": declare.choice(["ssh", "x509"], "Type of the key pair.", support=since("8.0.0")),
        "user": declare.checked(
            "keystone.user",
            "User who owns the key pair. For administrators only.",
            finder=Finder("identity", "user"),
            support=since("9.0.0"),
        ),
    }
    secrets = frozenset({"private_key"})
    attributes = {
        "private_key": Attribute(
            "Private key of a generated pair, if it is stored.", type=Type.STRING, cached=False
        ),
        "public_key": Attribute("Public key.", type=Type.STRING),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Generate a pair unless a public key is given, then upload the public key."""
        pair = None if call.physical_id is None else _pair(call, call.physical_id)
        if pair is not None:
            return Done(attributes={"public_key": pair.get("public_key")})
        own = _public_key(call)
        if own is None and call.properties.get("type") != "x509":
            return Wait(after=0.0, data={**call.data, **_generate(call)})
        try:
            pair = self._send(call, own)
        except CloudError as fault:
            if is_conflict(fault):
                return Failed(describe(fault))
            raise
        data = dict(call.data)
        if call.properties.get("save_private_key") and pair.get("private_key"):
            data["private_key"] = pair["private_key"]
        return Done(str(pair["name"]), {"public_key": pair.get("public_key")}, data)

    def _send(self, call: Call, public_key: str | None) -> Object:
        body = {"name": call.properties["name"]}
        optional = (
            ("public_key", public_key),
            ("type", call.properties.get("type")),
            ("user_id", call.properties.get("user")),
        )
        body.update({field: value for field, value in optional if value is not None})
        version = _USERS if "user_id" in body else _TYPES if "type" in body else None
        return KEYPAIRS.create(call.cloud, body, microversion=version)

    def delete(self, call: Call) -> Outcome:
        """Delete the pair."""
        if call.physical_id is not None:
            KEYPAIRS.delete(call.cloud, call.physical_id, **_owner(call))
        return Done()

    def release(self, call: Call) -> Outcome:
        """Delete the pair before its replacement is created, which may have the same name.

        The public key is recorded first. A pair of that name with another key belongs to others.
        """
        found = None if call.physical_id is None else _pair(call, call.physical_id)
        if found is None:
            return Done()
        key, own = str(found.get("public_key", "")), _public_key(call)
        if own is not None and _key_of(key) != _key_of(own):
            return Done()
        if _RELEASED not in call.data:
            return Wait(after=0.0, data={**call.data, _RELEASED: key})
        if _key_of(key) == _key_of(call.data[_RELEASED]):
            KEYPAIRS.delete(call.cloud, call.object_id, **_owner(call))
        return Done()

    def reclaim(self, call: Call) -> Outcome:
        """Upload the recorded public key again."""
        if _RELEASED not in call.data:
            return Done()
        key = call.data[_RELEASED]
        found = _pair(call, call.object_id)
        if found is None:
            self._send(call, key)
        elif _key_of(str(found.get("public_key", ""))) != _key_of(key):
            return Failed(f"another key pair {call.object_id} exists by now")
        data = {name: value for name, value in call.data.items() if name != _RELEASED}
        return Done(data=data)

    def find(self, call: Call) -> str | None:
        """Return the pair with the physical name, if it has the key that this call would send."""
        own = _public_key(call)
        found = _pair(call, call.properties["name"])
        if found is None or own is None:
            return None
        same = _key_of(str(found.get("public_key", ""))) == _key_of(own)
        return str(found["name"]) if same else None

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the pair with the physical name, with any key."""
        found = _pair(call, call.properties["name"])
        return [] if found is None else [str(found["name"])]

    def identity(self, physical_id: str, properties: Mapping[str, Any]) -> str:
        """Return owner and name, since names are unique only for each user."""
        return f"{properties.get('user') or ''}:{physical_id}"

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties of the live pair. The comment of a key is ignored."""
        found = _pair(call, call.object_id)
        if found is None:
            return None
        observed = {"name": found["name"], "public_key": found.get("public_key", "")}
        if _key_of(observed["public_key"]) == _key_of(_public_key(call) or ""):
            observed["public_key"] = _public_key(call)
        fields = (("type", "type"), ("user", "user_id"))
        return {**observed, **{name: found[field] for name, field in fields if field in found}}

    def expected(self, call: Call) -> Mapping[str, Any]:
        """Return the properties, with the generated key if none was given."""
        return {**call.properties, "public_key": _public_key(call)}

    def check(self, call: Call) -> Outcome:
        """Check that the pair exists, or can be uploaded again."""
        if _RELEASED in call.data:
            return Done()
        if call.physical_id is None or _pair(call, call.physical_id) is None:
            return Failed(f"the key pair {call.physical_id} no longer exists")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the public key from Nova, and the private key from the data."""
        found = _pair(call, call.object_id) or {}
        return {
            "public_key": found.get("public_key", ""),
            "private_key": call.data.get("private_key", ""),
            "show": found,
        }


def _pair(call: Call, name: str) -> Object | None:
    return KEYPAIRS.find(call.cloud, name, **_owner(call))


def _owner(call: Call) -> dict[str, Any]:
    user = call.properties.get("user")
    return {"params": {"user_id": user}, "microversion": _USERS} if user else {}


def _public_key(call: Call) -> str | None:
    key = call.properties.get("public_key") or call.data.get("public_key")
    return str(key) if key else None


def _key_of(text: str) -> list[str]:
    """Return a public key without its comment."""
    return text.split()[:2]


def _generate(call: Call) -> dict[str, str]:
    """Return a new key pair; without the private key unless it is to be stored."""
    key = rsa.generate_private_key(65537, _KEY_SIZE)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    pair = {"public_key": public.decode()}
    if call.properties.get("save_private_key"):
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        pair["private_key"] = private.decode()
    return pair
