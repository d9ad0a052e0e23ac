"""What a server with ``SOFTWARE_CONFIG`` is told: where it gets its deployments, and as whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.nova.server.temp_url import endpoint, temp_url
from stoker.schema.resource_type import Call

_CREDENTIALS = ("user_id", "username", "password", "project_id", "access", "secret")


def is_configured(call: Call) -> bool:
    """Whether the server takes software deployments."""
    return call.properties.get("user_data_format") == "SOFTWARE_CONFIG"


def credentials(call: Call) -> dict[str, Any]:
    """Credentials of a stack user of the server's own, to be kept as data."""
    assert call.signalling is not None
    user = dict(call.signalling.create_user(call))
    keypair = dict(call.signalling.create_keypair(call, str(user["user_id"])))
    merged = {**user, **keypair}
    return {name: merged[name] for name in _CREDENTIALS if name in merged}


def metadata(call: Call) -> dict[str, Any]:
    """The resource's metadata with what os-collect-config needs to poll for deployments."""
    kept = dict(call.metadata)
    return {**kept, "deployments": kept.get("deployments", []), "os-collect-config": _collect(call)}


def metadata_address(call: Call) -> str | None:
    """The address below which the CloudFormation interface answers, as ``http://host:8000/v1/``."""
    return None if call.signalling is None else call.signalling.metadata_url(call)


def _collect(call: Call) -> Mapping[str, Any]:
    transport = call.properties.get("software_config_transport") or "POLL_SERVER_CFN"
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
            **_user(call),
            "stack_id": f"{call.stack.name}/{call.stack.id}",
            "resource_name": call.name,
        }
        collectors.append("heat")
    elif transport == "POLL_TEMP_URL":
        source["request"] = {"metadata_url": temp_url(call)}
        collectors.append("request")
    else:
        endpoint(call, "message")
        source["zaqar"] = {**_user(call), "queue_id": call.resource_id}
        collectors.append("zaqar")
    return {**source, "collectors": [*collectors, "local"]}


def _user(call: Call) -> dict[str, Any]:
    return {
        "user_id": call.data.get("user_id"),
        "password": call.data.get("password"),
        "auth_url": _auth_url(call),
        "project_id": call.data.get("project_id") or call.stack.user_project_id,
        "region_name": call.stack.region,
    }


def _auth_url(call: Call) -> str:
    address = endpoint(call, "identity").rstrip("/")
    return address if address.endswith("/v3") else f"{address}/v3"
