"""Metadata and credentials for servers that receive software deployments.

A server polls for its deployments in one of four ways (``software_config_transport``). This module
creates the stack user, the temporary URL or the queue that the transport needs, and builds the
metadata in which os-collect-config finds it. Called by the server types in worker threads.

Tested by tests/software.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.resources.shared.signals import message_queues
from stoker.resources.shared.signals.stack_user import user
from stoker.resources.shared.storage.temp_url import StoredObject
from stoker.schema.resource_type import Call

_CREDENTIALS = ("user_id", "username", "password", "project_id", "access", "secret")
_TRANSPORT = "software_config_transport"
_PLACE = "deployment_swift_data"
# Transports for which metadata are pushed; servers do not ask this service.
_PUBLISHED = ("POLL_TEMP_URL", "ZAQAR_MESSAGE")


def credentials(call: Call) -> dict[str, Any]:
    """Create a stack user for the server; return its credentials, for the resource's data."""
    assert call.signalling is not None
    user = dict(call.signalling.create_user(call))
    keypair = dict(call.signalling.create_keypair(call, str(user["user_id"])))
    merged = {**user, **keypair}
    return {name: merged[name] for name in _CREDENTIALS if name in merged}


def polling_metadata(call: Call) -> dict[str, Any]:
    """Return the metadata for os-collect-config: where the server polls for deployments."""
    deployments = call.metadata.get("deployments", [])
    return {"deployments": deployments, "os-collect-config": _collect(call)}


def metadata_address(call: Call) -> str | None:
    """Return the base URL of the CloudFormation API, such as ``http://host:8000/v1/``."""
    return None if call.signalling is None else call.signalling.metadata_url(call)


def watch_address(call: Call) -> str | None:
    """Return the base URL of the CloudWatch API."""
    return None if call.signalling is None else call.signalling.watch_url(call)


def publishes(properties: Mapping[str, Any]) -> bool:
    """Return whether the metadata are pushed to a place outside of this service."""
    return properties.get(_TRANSPORT) in _PUBLISHED


def publish(call: Call) -> None:
    """Push the metadata to the place where the server polls."""
    content = json.dumps(call.metadata)
    if call.properties.get(_TRANSPORT) == "POLL_TEMP_URL":
        stored = _object(call, call.properties)
        stored.ensure(b"{}")
        stored.write(content.encode())
    else:
        message_queues.post(call, message_queues.queue_of(call), content)


def retract(call: Call, properties: Mapping[str, Any]) -> None:
    """Delete the pushed metadata of a server with these properties."""
    if properties.get(_TRANSPORT) == "POLL_TEMP_URL":
        _object(call, properties).remove()
    elif properties.get(_TRANSPORT) == "ZAQAR_MESSAGE":
        message_queues.remove(call, message_queues.queue_of(call))


def retract_moved(call: Call) -> None:
    """Delete the pushed metadata at the previous place, if an update changes the transport."""
    previous = call.update.previous
    if call.update.changed & {_TRANSPORT, _PLACE} and publishes(previous):
        retract(call, previous)


def _collect(call: Call) -> Mapping[str, Any]:
    transport = call.properties.get(_TRANSPORT) or "POLL_SERVER_CFN"
    known, source = call.data, {}
    collectors = ["ec2"]
    if transport == "POLL_SERVER_CFN":
        source["cfn"] = {
            "metadata_url": metadata_address(call),
            "access_key_id": known.get("access"),
            "secret_access_key": known.get("secret"),
            "stack_name": call.stack.name,
            "path": f"{call.name}.Metadata",
        }
        collectors.append("cfn")
    elif transport == "POLL_SERVER_HEAT":
        source["heat"] = {
            **user(call),
            "stack_id": f"{call.stack.name}/{call.stack.id}",
            "resource_name": call.name,
        }
        collectors.append("heat")
    elif transport == "POLL_TEMP_URL":
        stored = _object(call, call.properties)
        stored.ensure(b"{}")
        source["request"] = {"metadata_url": stored.url("GET")}
        collectors.append("request")
    else:
        queue = message_queues.queue_of(call)
        message_queues.ensure(call, queue)
        source["zaqar"] = {**user(call), "queue_id": queue}
        collectors.append("zaqar")
    return {**source, "collectors": [*collectors, "local"]}


def _object(call: Call, properties: Mapping[str, Any]) -> StoredObject:
    place = properties.get(_PLACE) or {}
    container = place.get("container") or call.physical_name
    # The name of an object from Heat is in the data.
    name = place.get("object") or call.data.get("object_name") or call.resource_id
    return StoredObject(call, container, name)
