"""OS::Trove::Cluster: a database cluster.

Clusters have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource, error_status, polling_pause, rename_fields
from stoker.resources.trove.networks import nics
from stoker.schema.constraints import Length, Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Outcome, Wait
from stoker.schema.support import since

_CLUSTERS = collection("database", "cluster")


def _member(entry: Mapping[str, Any]) -> Object:
    return rename_fields(
        {
            "flavorRef": entry["flavor"],
            "volume": {"size": entry["volume_size"]},
            "nics": nics(entry.get("networks")),
            "availability_zone": entry.get("availability_zone"),
        }
    )


class TroveCluster(RestResource):
    """A cluster of databases."""

    type_name = "OS::Trove::Cluster"
    description = "A database cluster."
    service = "database"
    has_data = True
    support = since("2015.1")
    collection = _CLUSTERS
    marker_field = ""
    async_delete = True

    properties = {
        "datastore_type": declare.string(
            "Type of the database.", required=True, constraints=(Length(max=255),)
        ),
        "datastore_version": declare.string(
            "Version of the database.", required=True, constraints=(Length(max=255),)
        ),
        "instances": declare.records(
            "The members.",
            required=True,
            entries={
                "availability_zone": declare.string(
                    "Availability zone of the member.", support=since("14.0.0")
                ),
                "flavor": declare.by_name("trove.flavor", "Flavor of the member", required=True),
                "networks": declare.records(
                    "Networks of the object.",
                    default=[],
                    support=since("10.0.0"),
                    entries={
                        "fixed_ip": declare.checked("ip_addr", "Address in the network."),
                        "network": declare.by_name("neutron.network", "Network"),
                        "port": declare.by_name("neutron.port", "Port"),
                    },
                ),
                "volume_size": declare.integer(
                    "Size of the volume in GiB.",
                    required=True,
                    constraints=(Range(min=1, max=150),),
                ),
            },
        ),
        "name": declare.string(
            "Name of the cluster. If not given, a name is generated.",
            constraints=(Length(max=255),),
        ),
    }
    attributes = {
        "instances": Attribute("The members.", Type.LIST),
        "ip": Attribute("Addresses.", Type.LIST),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the type of the database, and the members in Trove's format."""
        store = {name: properties.get(f"datastore_{name}") for name in ("type", "version")}
        members = [_member(each) for each in properties.get("instances") or ()]
        return {"datastore": store, "instances": members}

    def judge(self, call: Call, found: Object) -> Outcome:
        """Return Done when Trove has no task for the cluster any more."""
        task = str((found.get("task") or {}).get("name", "NONE"))
        if task != "NONE":
            return Wait(polling_pause(call), str(found["id"]), reason=f"cluster is {task}")
        failed = [each for each in found.get("instances") or () if each.get("status") == "ERROR"]
        if failed:
            return error_status("ERROR", str(failed[0].get("name")), str(found["id"]))
        return super().judge(call, found)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name and the type of the database."""
        store = found.get("datastore") or {}
        observed = {f"datastore_{name}": store.get(name) for name in ("type", "version")}
        return {**observed, "name": found.get("name")}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all clusters. Trove cannot filter them by name."""
        return _CLUSTERS.select(call.cloud)
