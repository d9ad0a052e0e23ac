"""Agents of the network service that host an object, set by follow-up requests."""

from __future__ import annotations

from stoker.clouds.objects.collection import Collection, send
from stoker.resources.base.rest import FollowUpRequest
from stoker.schema.resource_type import Call


def hosted_by(
    collection: Collection, property_name: str, hosts: str, hosted: str
) -> FollowUpRequest:
    """Return the follow-up request for a property that names the agents of an object.

    ``hosts`` is the path below the object that lists its agents, ``hosted`` the path below an agent
    that lists its objects, such as ``dhcp-agents`` and ``dhcp-networks``.
    """

    def place(call: Call) -> None:
        network, object_id = call.cloud.service("network"), call.object_id
        agents = call.properties.get(property_name) or []
        desired = {agents} if isinstance(agents, str) else set(agents)
        answer = send(network, "GET", collection.at(object_id, f"/{hosts}"))
        present = {agent["id"] for agent in answer.get("agents", [])}
        for agent in sorted(desired - present):
            body = {f"{collection.key}_id": object_id}
            send(network, "POST", f"/agents/{agent}/{hosted}", json=body)
        for agent in sorted(present - desired):
            send(network, "DELETE", f"/agents/{agent}/{hosted}/{object_id}")

    def present(call: Call) -> str | list[str]:
        answer = collection.ask(call.cloud, "GET", collection.at(call.object_id, f"/{hosts}"))
        found = sorted(agent["id"] for agent in answer.get("agents", []))
        specified = call.properties[property_name]
        return specified if isinstance(specified, str) and found == [specified] else found

    return FollowUpRequest(property_name, place, present)
