"""Connections to orchestration services in other regions and clouds.

The credentials for another cloud are the payload of a secret in the key manager, a JSON object::

    {"auth_type": "v3applicationcredential", "auth": {"auth_url": "https://...", ...}}

They are read for each call with the credentials of the stack: a stack without access to the secret
has no access to the other cloud. The connection is kept until they change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.clouds.faults import describe, is_cloud_fault
from stoker.clouds.objects.payloads import payload_of
from stoker.kernel.errors import NotFoundError
from stoker.schema.unknown import unknown_in

# Custom constraint: the context has a reachable orchestration service.
CONSTRAINT = "stoker.orchestration"
AUTH_TYPES = ("password", "token", "v3applicationcredential", "v3password", "v3token")
_LONGEST_SECRET = 65536


class NoSuchCloudError(NotFoundError):
    """The orchestration service or the credentials for it do not exist."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place of an orchestration service. None means the value of the stack's own cloud."""

    region: str | None = None
    # Payload of the secret with the credentials.
    access: str | None = field(default=None, repr=False)
    ca_cert: str | None = None  # PEM certificates of the authorities to trust.
    insecure: bool = False  # Skip the verification of certificates.


def connection(cloud: Any, context: Mapping[str, Any] | None) -> Any:
    """Return the connection to the cloud and region of an ``OS::Heat::Stack`` context.

    Raise :class:`NoSuchCloudError` for a secret with unusable content, and the error of the key
    manager if it cannot be read.
    """
    settings = context or {}
    secret_id = settings.get("credential_secret_id")
    place = Place(
        settings.get("region_name") or None,
        _content(cloud, secret_id) if secret_id else None,
        settings.get("ca_cert") or None,
        bool(settings.get("insecure")),
    )
    at_home = place.access is None and place.region in (None, cloud.region)
    if at_home and place.ca_cert is None and not place.insecure:
        return cloud
    return cloud.elsewhere(place)


def fault_of(cloud: Any, context: Any) -> str | None:
    """Return why a context has no orchestration service, or None."""
    if not isinstance(context, Mapping) or unknown_in(context) is not None:
        return None
    try:
        found = connection(cloud, context)
        if found.offers("orchestration"):
            return None
        reason = (
            f"{found.interface} endpoint for orchestration service in {found.region} region"
            " not found"
        )
    except NoSuchCloudError as fault:
        reason = str(fault)
    except Exception as fault:
        if not is_cloud_fault(fault):
            raise
        reason = describe(fault)
    region_name = context.get("region_name") or cloud.region
    return (
        f'Cannot establish connection to Heat endpoint at region "{region_name}" due to "{reason}"'
    )


def login_of(access: str) -> tuple[str, Mapping[str, Any]]:
    """Return the auth type and its options from the payload of a secret."""
    try:
        content = json.loads(access)
        kind, options = content["auth_type"], content["auth"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NoSuchCloudError(
            'the secret with the credentials must hold JSON as {"auth_type": "v3password",'
            ' "auth": {"auth_url": ...}}'
        ) from None
    if kind not in AUTH_TYPES:
        raise NoSuchCloudError(
            f"the secret with the credentials has an auth_type other than {', '.join(AUTH_TYPES)}"
        )
    if not isinstance(options, Mapping) or "auth_url" not in options:
        raise NoSuchCloudError('the secret with the credentials has no "auth_url" in "auth"')
    if not all(isinstance(value, str) for value in options.values()):
        raise NoSuchCloudError(
            'the secret with the credentials has values in "auth" that are not text'
        )
    return kind, options


def _content(cloud: Any, secret_id: str) -> str:
    held = payload_of(cloud, str(secret_id))
    if held is None:
        raise NoSuchCloudError(f'there is no secret "{secret_id}", or it is empty')
    if len(held) > _LONGEST_SECRET:
        raise NoSuchCloudError(f'the secret "{secret_id}" is longer than {_LONGEST_SECRET} bytes')
    login_of(held)
    return held
