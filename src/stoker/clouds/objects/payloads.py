"""The contents of secrets."""

from __future__ import annotations

import base64
from http import HTTPStatus
from typing import Any

from stoker.clouds.faults import fault_from
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS

SECRETS = KINDS["key-manager", "secret"]
_TEXT = "text/plain"
_ERRORS = 400


def payload_of(cloud: Any, secret_ref: str) -> str | None:
    """Return the contents of a secret: text, or base64 of other bytes; None if empty or gone."""
    found = SECRETS.find(cloud, secret_ref)
    return None if found is None else payload_in(cloud, found)


def payload_in(cloud: Any, secret: Object) -> str | None:
    """Return the same for a secret in a response of the service."""
    kind = str((secret.get("content_types") or {}).get("default") or _TEXT)
    answer = cloud.service("key-manager").request(
        SECRETS.at(secret["secret_ref"], "/payload"), "GET", headers={"Accept": kind}
    )
    if answer.status_code == HTTPStatus.NOT_FOUND:
        return None
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
    text: str = answer.text
    return text if kind.startswith(_TEXT) else base64.b64encode(answer.content).decode()
