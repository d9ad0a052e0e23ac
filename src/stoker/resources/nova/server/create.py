"""Creates a server: first credentials and ports, then the server, then floating IPs.

:func:`request` sends the create request and returns the id with ``Wait``. The engine commits the id
and calls :func:`settle` until the server is active. Ports are found by name if the call is
repeated, so a lost response leaves none behind.

Tested by tests/resource_types_openstack/test_servers.py and test_found_again.py there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import CloudError, is_conflict
from stoker.clouds.objects.collections import SERVERS
from stoker.resources.base.rest import poll_object, polling_pause, refusal
from stoker.resources.nova.server.body import request_body
from stoker.resources.nova.server.ports import ensure_ports, has_addresses, lead_floating_ips, nics
from stoker.resources.nova.server.states import ACTIVE, BROKEN, TASK, broken_by, live
from stoker.resources.nova.server.user_data import Addresses, render
from stoker.resources.shared.signals.server_software import (
    credentials,
    metadata_address,
    polling_metadata,
    retract_moved,
    watch_address,
)
from stoker.schema.resource_type import Call, Done, Outcome, Wait
from stoker.schema.software import POLLING_METADATA


def request(call: Call) -> Outcome:
    """Store credentials and metadata, create the ports, and request the server.

    A server may ask for its metadata before the response with its id has arrived. So these are
    committed before the request is sent.
    """
    if takes_deployments(call.properties):
        if "user_id" not in call.data and call.signalling is not None:
            return Wait(after=0.0, data={**call.data, **credentials(call)})
        if POLLING_METADATA not in call.data:
            return Wait(after=0.0, data={**call.data, POLLING_METADATA: polling_metadata(call)})
    desired = nics(call.properties.get("networks"))
    ports = ensure_ports(call, desired)
    body, version = request_body(call, desired, ports, user_data(call))
    try:
        answer = SERVERS.ask(call.cloud, "POST", SERVERS.path, json=body, microversion=version)
    except CloudError as fault:
        if is_conflict(fault) and "still in use" in fault.message:
            raise  # Another server is about to release a port: the engine retries.
        return refusal(fault)
    server_id = str(SERVERS.object_in(answer)["id"])
    pause = polling_pause(call, SERVERS)
    return Wait(pause, physical_id=server_id, reason="the server is being built")


def settle(call: Call) -> Outcome:
    """Wait until the server is active, then associate its floating IPs."""
    server = poll_object(call, SERVERS) or live(call)
    status, task = server.get("status"), server.get(TASK)
    if status in BROKEN:
        return broken_by(call, server)
    if status != ACTIVE or task:
        doing = f"{status} ({task})" if task else str(status)
        return Wait(
            polling_pause(call, SERVERS),
            reason=f"the server is {doing}",
            early=has_addresses(call.properties.get("networks"), server),
        )
    desired = nics(call.properties.get("networks"))
    if any(nic.entry.get("floating_ip") for nic in desired):
        lead_floating_ips(call, desired, ensure_ports(call, desired))
    return finished(call)


def finished(call: Call) -> Done:
    """Return the end of a create or update, with the metadata for software deployments."""
    if not takes_deployments(call.properties):
        return Done(call.physical_id)
    retract_moved(call)
    return Done(call.physical_id, data={**call.data, POLLING_METADATA: polling_metadata(call)})


def user_data(call: Call) -> str:
    """Return the user data. The id of a software config is replaced by its content."""
    text_or_id = call.properties.get("user_data") or ""
    form = call.properties.get("user_data_format") or "HEAT_CFNTOOLS"
    text = call.configs[text_or_id].text if text_or_id in call.configs else text_or_id
    metadata = call.metadata
    if takes_deployments(call.properties):
        metadata = {**metadata, **polling_metadata(call)}
    return render(form, text, metadata, _addresses(call) if form == "HEAT_CFNTOOLS" else None)


def _addresses(call: Call) -> Addresses | None:
    metadata, watch = metadata_address(call), watch_address(call)
    return Addresses(metadata, watch) if metadata and watch else None


def takes_deployments(properties: Mapping[str, Any]) -> bool:
    """Return whether the server can receive software deployments."""
    return properties.get("user_data_format") == "SOFTWARE_CONFIG"
