"""OS::Cinder::EncryptedVolumeType: the encryption of volumes of a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.faults import CloudError, gone_is_fine
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import VOLUME_TYPES
from stoker.resources.base import declare
from stoker.resources.base.rest import refusal
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.support import since

_FIELDS = ("provider", "control_location", "cipher", "key_size")


class EncryptedVolumeType(ManagedType):
    """The encryption of a volume type. The physical id is the id of the type."""

    type_name = "OS::Cinder::EncryptedVolumeType"
    id_form = "VOLUME_TYPE"
    description = "Encryption of volumes of a type."
    service = "block-storage"
    support = since("5.0.0")
    unique = True
    link = "volume type encryption"
    properties = {
        "cipher": declare.choice(
            ["aes-xts-plain64", "aes-cbc-essiv"],
            "Cipher and mode of the encryption.",
            update_allowed=True,
        ),
        "control_location": declare.choice(
            ["front-end", "back-end"],
            "Place of the encryption.",
            default="front-end",
            update_allowed=True,
        ),
        "key_size": declare.integer("Size of the key in bits.", update_allowed=True),
        "provider": declare.string("What encrypts.", required=True, update_allowed=True),
        "volume_type": declare.by_name("cinder.vtype", "Type of volumes", required=True),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Set the encryption of the type."""
        kind = str(call.properties["volume_type"])
        if call.physical_id is not None and _encryption(call, kind):
            return self.update(call)
        try:
            _ask(call, "POST", kind, "", json={"encryption": _desired(call)})
        except CloudError as fault:
            return refusal(fault)
        return Done(kind)

    def update(self, call: Call) -> Outcome:
        """Change the encryption of the type."""
        kind = call.object_id
        found = _encryption(call, kind)
        body = {"encryption": _desired(call)}
        _ask(call, "PUT", kind, f"/{found.get('encryption_id', 'provider')}", json=body)
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Remove the encryption; existing volumes stay encrypted."""
        if call.physical_id is None:
            return Done()
        with gone_is_fine():
            found = _encryption(call, call.physical_id)
            if found:
                encryption_id = found.get("encryption_id", "provider")
                _ask(call, "DELETE", call.physical_id, f"/{encryption_id}")
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the encryption of the type, if it has the desired values."""
        kind = str(call.properties["volume_type"])
        found = _encryption(call, kind)
        return kind if found and _desired(call).items() <= found.items() else None

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the type if it is encrypted, with any values."""
        kind = str(call.properties["volume_type"])
        return [kind] if _encryption(call, kind) else []

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the encryption as Cinder shows it."""
        return {"show": _encryption(call, call.object_id)}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the live encryption; None if there is none."""
        found = {}
        with gone_is_fine():
            found = _encryption(call, call.object_id)
        if not found:
            return None
        return {**{name: found.get(name) for name in _FIELDS}, "volume_type": call.object_id}

    def check(self, call: Call) -> Outcome:
        """Check that the type is encrypted."""
        if call.physical_id is None or self.live(call) is None:
            return Failed(f"the volume type {call.physical_id} is no longer encrypted")
        return Done()


def _desired(call: Call) -> Object:
    return {name: call.properties.get(name) for name in _FIELDS}


def _encryption(call: Call, kind: str) -> Object:
    return _ask(call, "GET", kind, "")


def _ask(call: Call, method: str, kind: str, suffix: str, **more: Any) -> Object:
    path = VOLUME_TYPES.at(kind, f"/encryption{suffix}")
    return VOLUME_TYPES.ask(call.cloud, method, path, **more)
