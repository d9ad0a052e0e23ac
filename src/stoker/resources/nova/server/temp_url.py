"""A temporary URL of the object store, from which a server polls its deployments."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from urllib.parse import quote, urlsplit

from stoker.clouds.faults import fault_from
from stoker.kernel.errors import Refused
from stoker.schema.resource_type import Call

_ERRORS = 400
_FAR_FUTURE = 2**31 - 1
_KEY_HEADER = "X-Account-Meta-Temp-Url-Key"


def temp_url(call: Call) -> str:
    """The signed address of the server's object; container and object exist afterwards."""
    place = call.properties.get("deployment_swift_data") or {}
    container = place.get("container") or call.physical_name
    name = place.get("object") or call.resource_id
    address = endpoint(call, "object_store").rstrip("/")
    _sent(call, "PUT", f"/{quote(container)}")
    target = f"/{quote(container)}/{quote(name)}"
    if _request(call, "HEAD", target) >= _ERRORS:
        _sent(call, "PUT", target, data=b"{}")
    path = urlsplit(address).path + target
    signed = f"GET\n{_FAR_FUTURE}\n{path}".encode()
    signature = hmac.new(_key(call).encode(), signed, hashlib.sha256).hexdigest()
    return f"{address}{target}?temp_url_sig={signature}&temp_url_expires={_FAR_FUTURE}"


def endpoint(call: Call, service: str) -> str:
    """The address of the service that a server polls, as the catalog has it.

    Raises :class:`stoker.kernel.errors.Refused` for a cloud without it.
    """
    found = getattr(call.cloud, service).get_endpoint_data()
    if found is None:
        transport = call.properties.get("software_config_transport")
        words = service.replace("_", "-")
        raise Refused(
            f"software_config_transport {transport} needs a service of type {words}, and the"
            " catalog has none; choose POLL_SERVER_CFN or POLL_SERVER_HEAT"
        )
    return str(found.url)


def _key(call: Call) -> str:
    """The account's key for temporary URLs; made where there is none."""
    answer = call.cloud.object_store.request("", "HEAD")
    present = answer.headers.get(_KEY_HEADER)
    if present:
        return str(present)
    made = secrets.token_hex(32)
    _sent(call, "POST", "", headers={_KEY_HEADER: made})
    return made


def _request(call: Call, method: str, path: str) -> int:
    return int(call.cloud.object_store.request(path, method).status_code)


def _sent(
    call: Call,
    method: str,
    path: str,
    data: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> None:
    answer = call.cloud.object_store.request(path, method, data=data, headers=headers or {})
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
