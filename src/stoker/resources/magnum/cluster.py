"""OS::Magnum::Cluster: a container cluster.

Clusters have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource, polling_pause
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome, Wait
from stoker.schema.support import since

_BEFORE = "before"  # Key of the progress: time of the previous change.


class Cluster(RestResource):
    """A cluster."""

    type_name = "OS::Magnum::Cluster"
    description = "A container cluster."
    service = "container-infrastructure-management"
    support = since("9.0.0")
    collection = collection("container-infrastructure-management", "cluster", id_field="uuid")
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
            0, "Timeout of the creation in minutes.", default=60, update_allowed=True
        ),
        "discovery_url": declare.string(
            "URL of the discovery service for the nodes.", update_allowed=True
        ),
        "keypair": declare.by_name("nova.keypair", "Key pair for the nodes"),
        "master_count": declare.at_least(1, "Number of masters.", default=1, update_allowed=True),
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "node_count": declare.at_least(1, "Number of nodes.", default=1, update_allowed=True),
    }
    attributes = {
        "api_address": Attribute("URL of the cluster's API.", Type.STRING),
        "cluster_template_id": Attribute("Id of the template.", Type.STRING),
        "coe_version": Attribute("Version of the container orchestration engine.", Type.STRING),
        "container_version": Attribute("Version of the container runtime.", Type.STRING),
        "create_timeout": Attribute("Timeout of the creation in minutes.", Type.INTEGER),
        "discovery_url": Attribute("URL of the discovery service for the nodes.", Type.STRING),
        "keypair": Attribute("Key pair for the nodes.", Type.STRING),
        "master_addresses": Attribute("Addresses of the masters.", Type.LIST),
        "master_count": Attribute("Number of masters.", Type.INTEGER),
        "name": Attribute("Name of the object.", Type.STRING),
        "node_addresses": Attribute("Addresses of the nodes.", Type.LIST),
        "node_count": Attribute("Number of nodes.", Type.INTEGER),
        "stack_id": Attribute("Id of the stack of the cluster.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "status_reason": Attribute("Reason of the status.", Type.STRING),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Create the cluster. The response contains only the id."""
        outcome = super().create(call)
        made_now = call.physical_id is None and outcome.physical_id is not None
        return Wait(1.0, outcome.physical_id) if made_now else outcome

    def update(self, call: Call) -> Outcome:
        """Change the number of nodes when no other change is in progress.

        Magnum accepts a change before it checks it, and loses changes that arrive during another
        one.
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
        """Return the outcome. A change has started when the time of the last change differs."""
        outcome = super().judge(call, found)
        has_started = str(found.get("updated_at")) != call.progress.get(_BEFORE, "None")
        if call.action == "UPDATE" and isinstance(outcome, Done) and not has_started:
            return Wait(polling_pause(call), reason="the cluster has yet to begin to change")
        return outcome

    def delete(self, call: Call) -> Outcome:
        """Delete the cluster. Magnum cannot show a cluster whose deletion is nearly complete."""
        try:
            return super().delete(call)
        except CloudError as fault:
            if not call.progress or fault.status_code != HTTPStatus.BAD_REQUEST:
                raise
            return Wait(polling_pause(call), reason="the last of the cluster is being deleted")

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all clusters. Magnum cannot filter them by name.

        It cannot list them at all while a cluster has no nodes yet, or none any more.
        """
        try:
            return self.collection.select(call.cloud)
        except CloudError as fault:
            if fault.status_code != HTTPStatus.BAD_REQUEST:
                raise
            words = f"the clusters cannot be listed now: {fault.message}"
            raise CloudError(HTTPStatus.SERVICE_UNAVAILABLE, words, fault.request_id) from fault
