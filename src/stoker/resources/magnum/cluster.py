"""OS::Magnum::Cluster: a cluster that runs containers.

Clusters have no description: one that the user has named is found among those of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import collection
from stoker.clouds.faults import CloudError
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource, polling_pause
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome, Wait
from stoker.schema.support import since

_BEFORE = "before"  # key of the progress: time of the previous change of the cluster


class Cluster(RestResource):
    """A cluster."""

    type_name = "OS::Magnum::Cluster"
    description = "A cluster that runs containers."
    service = "container-infrastructure-management"
    support = since("9.0.0")
    collection = collection("container_infrastructure_management", "cluster", id_field="uuid")
    marker_field = ""
    async_delete = True
    readiness = Readiness(
        pending=frozenset({"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS"}),
        failed=frozenset({"CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED"}),
    )
    field_names = {"cluster_template": "cluster_template_id"}

    properties = {
        "cluster_template": declare.by_name(
            "magnum.cluster_template", "Cluster template", required=True
        ),
        "create_timeout": declare.at_least(
            0, "Minutes in which the cluster must be made.", default=60, update_allowed=True
        ),
        "discovery_url": declare.string(
            "Address by which the nodes find each other.", update_allowed=True
        ),
        "keypair": declare.by_name("nova.keypair", "Key pair for the nodes"),
        "master_count": declare.at_least(
            1, "How many masters there are.", default=1, update_allowed=True
        ),
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "node_count": declare.at_least(
            1, "How many nodes there are.", default=1, update_allowed=True
        ),
    }
    attributes = {
        "api_address": Attribute("Address of the API of the cluster.", Type.STRING),
        "cluster_template_id": Attribute("Id of the template.", Type.STRING),
        "coe_version": Attribute("Version of what orchestrates the containers.", Type.STRING),
        "container_version": Attribute("Version of what runs the containers.", Type.STRING),
        "create_timeout": Attribute("Minutes in which the cluster must be made.", Type.INTEGER),
        "discovery_url": Attribute("Address by which the nodes find each other.", Type.STRING),
        "keypair": Attribute("Key pair for the nodes.", Type.STRING),
        "master_addresses": Attribute("Addresses of the masters.", Type.LIST),
        "master_count": Attribute("How many masters there are.", Type.INTEGER),
        "name": Attribute("Name of the object.", Type.STRING),
        "node_addresses": Attribute("Addresses of the nodes.", Type.LIST),
        "node_count": Attribute("How many nodes there are.", Type.INTEGER),
        "stack_id": Attribute("Id of the stack behind the cluster.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "status_reason": Attribute("Why the status is what it is.", Type.STRING),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Make the cluster, of which the service tells no more than the id at first."""
        outcome = super().create(call)
        made_now = call.physical_id is None and outcome.physical_id is not None
        return Wait(1.0, outcome.physical_id) if made_now else outcome

    def update(self, call: Call) -> Outcome:
        """Change the number of nodes when nothing else is under way.

        The service accepts changes before it looks at them, and forgets those that come while it
        is at work.
        """
        before = call.progress.get(_BEFORE)
        if before is None:
            found = self.of(call).get(call.cloud, call.object_id)
            settled = super().judge(call, found)
            there = found.get("node_count") == call.properties["node_count"]
            if not isinstance(settled, Done) or (there and call.update.changed <= {"node_count"}):
                return settled
            before = str(found.get("updated_at"))
        outcome = super().update(call)
        if isinstance(outcome, Wait):
            return replace(outcome, progress={**(outcome.progress or {}), _BEFORE: before})
        return outcome

    def judge(self, call: Call, found: Object) -> Outcome:
        """Return the outcome; a change has begun when the cluster has another time of its last
        one."""
        outcome = super().judge(call, found)
        begun = str(found.get("updated_at")) != call.progress.get(_BEFORE, "None")
        if call.action == "UPDATE" and isinstance(outcome, Done) and not begun:
            return Wait(polling_pause(call), reason="the cluster has yet to begin to change")
        return outcome

    def delete(self, call: Call) -> Outcome:
        """Remove the cluster; the service cannot show one that is all but gone."""
        try:
            return super().delete(call)
        except CloudError as fault:
            if not call.progress or fault.status_code != HTTPStatus.BAD_REQUEST:
                raise
            return Wait(polling_pause(call), reason="the last of the cluster is being deleted")

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """Return all clusters: the list cannot be narrowed.

        The service cannot show it while a cluster has yet to get its nodes, or has lost them.
        """
        try:
            return self.collection.select(call.cloud)
        except CloudError as fault:
            if fault.status_code != HTTPStatus.BAD_REQUEST:
                raise
            words = f"the clusters cannot be listed now: {fault.message}"
            raise CloudError(HTTPStatus.SERVICE_UNAVAILABLE, words, fault.request_id) from fault
