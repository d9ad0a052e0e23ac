"""Objects in the object store that servers read and write through temporary URLs."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from stoker.clouds.faults import fault_from
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Call

_ERRORS = 400
_FAR_FUTURE = 2**31 - 1
_KEY_HEADER = "X-Account-Meta-Temp-Url-Key"
_MOST_BYTES = 1024 * 1024  # of an object that a server wrote


class StoredObject(Struct, frozen=True):
    """An object in the call's project. Its container may not exist yet."""

    call: Call
    container: str
    name: str

    def ensure(self, content: bytes) -> None:
        """Create the container, and the object with this content unless it exists.

        Raise :class:`stoker.kernel.errors.RequestError` for a cloud without an object store.
        """
        endpoint(self.call, "object-store")
        _sent(self.call, "PUT", self._container)
        if self._answer("HEAD").status_code >= _ERRORS:
            self.write(content)

    def ensure_versions(self) -> None:
        """Create a container that keeps overwritten versions, if the object store supports that."""
        endpoint(self.call, "object-store")
        _sent(self.call, "PUT", self._container)
        headers = {"X-Versions-Location": self.container}
        self.call.cloud.service("object-store").request(self._container, "POST", headers=headers)

    def versions(self) -> list[StoredObject]:
        """Return the kept versions of the object, oldest first, the current one last."""
        return [replace(self, name=name) for name in self._names()]

    def write(self, content: bytes) -> None:
        """Give the object this content."""
        _sent(self.call, "PUT", self._path, data=content)

    def read(self) -> bytes:
        """Return the content, cut at 1 MiB; empty if there is no object."""
        answer = self._answer("GET", {"Range": f"bytes=0-{_MOST_BYTES - 1}"})
        if answer.status_code in _EMPTY:
            return b""
        if answer.status_code >= _ERRORS:
            raise fault_from(answer)
        return bytes(answer.content)

    def remove(self) -> None:
        """Delete the object, and its container if it is empty. Missing ones are fine."""
        if not has_endpoint(self.call, "object-store"):
            return
        self._delete(self._path)
        self._delete(self._container)

    def remove_versions(self) -> None:
        """Delete all versions of the object, and the container."""
        if not has_endpoint(self.call, "object-store"):
            return
        # Otherwise the object store restores the previous version after each delete.
        headers = {"X-Remove-Versions-Location": "yes"}
        self.call.cloud.service("object-store").request(self._container, "POST", headers=headers)
        for version in self.versions():
            self._delete(version._path)  # noqa: SLF001 - it is of this class
        self._delete(self._container)

    def url(self, method: str) -> str:
        """Return a URL for this HTTP method that is valid until 2038, the latest possible time."""
        address = endpoint(self.call, "object-store").rstrip("/")
        path = urlsplit(address).path + self._path
        signed = f"{method}\n{_FAR_FUTURE}\n{path}".encode()
        signature = hmac.new(_key(self.call).encode(), signed, hashlib.sha256).hexdigest()
        query = f"temp_url_sig={signature}&temp_url_expires={_FAR_FUTURE}"
        return f"{address}{self._path}?{query}"

    @property
    def _container(self) -> str:
        return f"/{quote(self.container)}"

    @property
    def _path(self) -> str:
        return f"{self._container}/{quote(self.name)}"

    def _names(self) -> list[str]:
        """Return the names of earlier versions, then that of the object itself."""
        earlier = f"{len(self.name):03x}{self.name}/"
        found = []
        for prefix in (earlier, self.name):
            path = f"{self._container}?format=json&prefix={quote(prefix)}"
            answer = self.call.cloud.service("object-store").request(path, "GET")
            if answer.status_code == HTTPStatus.NOT_FOUND:
                return []
            if answer.status_code >= _ERRORS:
                raise fault_from(answer)
            listed = [str(entry["name"]) for entry in answer.json()]
            found += [name for name in listed if name == self.name or prefix == earlier]
        return found

    def _delete(self, path: str) -> None:
        answer = self.call.cloud.service("object-store").request(path, "DELETE")
        if answer.status_code not in _GONE and answer.status_code >= _ERRORS:
            raise fault_from(answer)

    def _answer(self, method: str, headers: dict[str, str] | None = None) -> Any:
        return self.call.cloud.service("object-store").request(
            self._path, method, headers=headers or {}
        )


# The container has other objects, or there is nothing to delete.
_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
# No object, or one without content.
_EMPTY = (HTTPStatus.NOT_FOUND, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)


def endpoint(call: Call, service: str) -> str:
    """Return the public URL of a service from the catalog.

    Raise :class:`stoker.kernel.errors.RequestError` if the catalog has none.
    """
    if not has_endpoint(call, service):
        raise RequestError(
            f"{_transport_of(call)} needs a service of type {service}, and the catalog has none;"
            " choose another transport"
        )
    return str(call.cloud.service(service).get_endpoint())


def has_endpoint(call: Call, service: str) -> bool:
    """Return whether the catalog has a service."""
    return bool(call.cloud.offers(service))


def _transport_of(call: Call) -> str:
    for name in ("software_config_transport", "signal_transport"):
        if call.properties.get(name):
            return f"{name} {call.properties[name]}"
    return f"{call.name}"


def _key(call: Call) -> str:
    """Return the account's key for temporary URLs; create one if there is none."""
    answer = call.cloud.service("object-store").request("", "HEAD")
    present = answer.headers.get(_KEY_HEADER)
    if present:
        return str(present)
    key = secrets.token_hex(32)
    _sent(call, "POST", "", headers={_KEY_HEADER: key})
    return key


def _sent(
    call: Call,
    method: str,
    path: str,
    data: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> None:
    answer = call.cloud.service("object-store").request(
        path, method, data=data, headers=headers or {}
    )
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
