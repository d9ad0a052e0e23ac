"""Base of the types for object store containers, OpenStack's and AWS's.

The name of a container is its only id. Creating an existing container changes only its headers, so
a create is simply repeated if its response was lost. A container that exists before the first
request belongs to others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from stoker.clouds.faults import fault_from
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

_ERRORS = 400
_AT_ONCE = 100  # objects deleted per call


class ObjectContainer(ManagedType):
    """A container of objects."""

    service = "object-store"
    unique = True
    link = "object container"
    id_form = "NAME"
    name_property: ClassVar[str] = ""  # Property with the name, if users can choose it.
    # Property that requests deleting the objects together with the container.
    purge_property: ClassVar[str] = ""

    @abstractmethod
    def headers(self, properties: Mapping[str, Any], call: Call) -> dict[str, str]:
        """Return the headers that the container gets for these properties."""

    def shows_owner(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the name was generated. It ends with the token then."""
        return not (self.name_property and properties.get(self.name_property))

    def create(self, call: Call) -> Outcome:
        """Create the container, or set the headers of an existing one."""
        name = self.container_name(call)
        _sent(call, "PUT", name, self.headers(call.properties, call))
        return Done(name)

    def holds_data(self, properties: Mapping[str, Any]) -> bool:
        """Return whether a delete deletes the objects, too. If not, the container must be empty."""
        return bool(self.purge_property and properties.get(self.purge_property))

    def delete(self, call: Call) -> Outcome:
        """Delete the container. Objects are deleted first if the user requested that."""
        if call.physical_id is None:
            return Done()
        purges = self.holds_data(call.properties)
        if purges and _removed(call, call.physical_id):
            return Wait(after=0.0, reason="the objects of the container are being deleted")
        answer = _asked(call, "DELETE", call.physical_id)
        if answer.status_code == HTTPStatus.CONFLICT and not purges:
            return Failed(f"the container {call.physical_id} is not empty")
        if answer.status_code != HTTPStatus.NOT_FOUND and answer.status_code >= _ERRORS:
            raise fault_from(answer)
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the container with the physical name or the user's name."""
        name = self.container_name(call)
        return name if _head(call, name) is not None else None

    def check(self, call: Call) -> Outcome:
        """Check that the container exists."""
        if call.physical_id is None or _head(call, call.physical_id) is None:
            return Failed(f"the container {call.physical_id} no longer exists")
        return Done()

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties whose headers the container has; None for headers that differ."""
        found = _head(call, call.object_id)
        if found is None:
            return None
        observed: dict[str, Any] = (
            {self.name_property: call.object_id} if self.name_property else {}
        )
        for name, value in call.properties.items():
            desired = self.headers({**dict.fromkeys(call.properties), name: value}, call)
            if desired:
                has = all(found.get(key.lower()) == text for key, text in desired.items())
                observed[name] = value if has else None
        return observed

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return addresses and usage of the container."""
        found = _head(call, call.object_id) or {}
        root = call.cloud.service("object-store").get_endpoint().rstrip("/")
        return {
            "BytesUsed": int(found.get("x-container-bytes-used", 0)),
            "DomainName": urlsplit(root).hostname,
            "HeadContainer": found,
            "ObjectCount": int(found.get("x-container-object-count", 0)),
            "RootURL": root,
            "WebsiteURL": f"{root}/{quote(call.object_id)}",
            "show": found,
        }

    def container_name(self, call: Call) -> str:
        """Return the name that the user chose, or the generated one."""
        chosen = call.properties.get(self.name_property) if self.name_property else None
        return str(chosen or call.physical_name)


def _asked(
    call: Call, method: str, name: str, headers: Mapping[str, str] | None = None, query: str = ""
) -> Any:
    path = f"/{quote(name, safe='')}{query}"
    return call.cloud.service("object-store").request(path, method, headers=dict(headers or {}))


def _sent(call: Call, method: str, path: str, headers: Mapping[str, str]) -> None:
    answer = _asked(call, method, path, headers)
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)


def set_account(call: Call, headers: Mapping[str, str]) -> None:
    """Set headers of the whole account."""
    answer = call.cloud.service("object-store").request("", "POST", headers=dict(headers))
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)


def _head(call: Call, name: str) -> dict[str, str] | None:
    """Return the headers of a container, or None."""
    answer = _asked(call, "HEAD", name)
    if answer.status_code == HTTPStatus.NOT_FOUND:
        return None
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
    return {str(key).lower(): str(value) for key, value in answer.headers.items()}


def _removed(call: Call, name: str) -> bool:
    """Delete up to 100 objects of a container; return whether it had any."""
    answer = _asked(call, "GET", name, query=f"?format=json&limit={_AT_ONCE}")
    if answer.status_code == HTTPStatus.NOT_FOUND:
        return False
    if answer.status_code >= _ERRORS:
        raise fault_from(answer)
    listed = answer.json()
    for item in listed:
        path = f"/{quote(name)}/{quote(item['name'])}"
        gone = call.cloud.service("object-store").request(path, "DELETE")
        if gone.status_code != HTTPStatus.NOT_FOUND and gone.status_code >= _ERRORS:
            raise fault_from(gone)
    return bool(listed)
