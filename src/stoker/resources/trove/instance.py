"""OS::Trove::Instance: a database server.

Instances have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, Readiness, RestResource, rename_fields
from stoker.resources.trove.changes import (
    INSTANCES,
    databases_of,
    set_databases,
    set_users,
    updated,
    users_of,
)
from stoker.resources.trove.networks import nics
from stoker.schema.constraints import Length, Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since

_PLAIN = ("availability_zone", "replica_count", "replica_of")


class TroveInstance(RestResource):
    """A database server."""

    type_name = "OS::Trove::Instance"
    description = "A database server."
    service = "database"
    has_data = True
    support = since("2014.1")
    collection = INSTANCES
    marker_field = ""
    async_delete = True
    readiness = Readiness(
        pending=frozenset({"BUILD", "REBOOT", "RESIZE", "RESTART_REQUIRED", "BACKUP", "NEW"}),
        failed=frozenset({"ERROR", "FAILED", "BLOCKED"}),
        reason="fault",
    )
    follow_up_requests = (
        FollowUpRequest("databases", set_databases, databases_of),
        FollowUpRequest("users", set_users, users_of),
    )

    properties = {
        "availability_zone": declare.string("Availability zone."),
        "databases": declare.records(
            "Databases on the server.",
            default=[],
            update_allowed=True,
            entries={
                "character_set": declare.string("Character set of the database.", default="utf8"),
                "collate": declare.string("Collation of the database.", default="utf8_general_ci"),
                "name": declare.string(
                    "Name of the database.",
                    required=True,
                    constraints=(
                        Length(max=64),
                        declare.pattern(r"[a-zA-Z0-9_\-]+[a-zA-Z0-9_@?#\s\-]*[a-zA-Z0-9_\-]+"),
                    ),
                ),
            },
        ),
        "datastore_type": declare.string("Type of the database.", constraints=(Length(max=255),)),
        "datastore_version": declare.string(
            "Version of the database.", constraints=(Length(max=255),)
        ),
        "flavor": declare.by_name("trove.flavor", "Flavor", required=True, update_allowed=True),
        "name": declare.string(
            "Name of the object. If not given, a name is generated.",
            update_allowed=True,
            constraints=(Length(max=255),),
        ),
        "networks": declare.records(
            "Networks of the object.",
            default=[],
            entries={
                "fixed_ip": declare.checked("ip_addr", "Address in the network."),
                "network": declare.by_name("neutron.network", "Network"),
                "port": declare.by_name("neutron.port", "Port"),
            },
        ),
        "replica_count": declare.integer("Number of replicas.", support=since("5.0.0")),
        "replica_of": declare.string("Id of the instance to replicate.", support=since("5.0.0")),
        "restore_point": declare.string("Id of the backup to restore."),
        "size": declare.integer(
            "Size of the volume in GiB.",
            required=True,
            update_allowed=True,
            only_grows=True,
            constraints=(Range(min=1, max=150),),
        ),
        "users": declare.records(
            "Users of the databases.",
            default=[],
            update_allowed=True,
            sensitive=True,
            entries={
                "databases": declare.sequence(
                    "Databases that the user has access to.",
                    required=True,
                    update_allowed=True,
                    constraints=(Length(min=1),),
                    items=declare.string(),
                ),
                "host": declare.string(
                    "Host from which the user may connect; % matches any.",
                    default="%",
                    update_allowed=True,
                ),
                "name": declare.string(
                    "Name of the user.",
                    required=True,
                    update_allowed=True,
                    constraints=(
                        Length(max=16),
                        declare.pattern(r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"),
                    ),
                ),
                "password": declare.string(
                    "Password of the user.",
                    required=True,
                    update_allowed=True,
                    constraints=(declare.pattern(r"[a-zA-Z0-9_]+[a-zA-Z0-9_@?#\s]*[a-zA-Z0-9_]+"),),
                ),
            },
        ),
    }
    attributes = {
        "hostname": Attribute("Name of the server.", Type.STRING),
        "href": Attribute("Address of the database.", Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields of the instance in Trove's format."""
        store = {name: properties.get(f"datastore_{name}") for name in ("type", "version")}
        backup, size = properties.get("restore_point"), properties.get("size")
        own = {name: properties.get(name) for name in _PLAIN}
        return rename_fields(
            {
                **own,
                "flavorRef": properties.get("flavor"),
                "volume": None if size is None else {"size": size},
                "nics": nics(properties.get("networks")),
                "datastore": rename_fields(store) or None,
                "restorePoint": None if backup is None else {"backupRef": backup},
            }
        )

    def update(self, call: Call) -> Outcome:
        """Rename and resize the instance, and change databases and users, one step after
        another."""
        return updated(self, call)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name, the flavor, the size, and the type of the database."""
        store = found.get("datastore") or {}
        observed = {f"datastore_{name}": store.get(name) for name in ("type", "version")}
        return {
            **observed,
            "name": found.get("name"),
            "flavor": (found.get("flavor") or {}).get("id"),
            "size": (found.get("volume") or {}).get("size"),
        }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all instances. Trove cannot filter them by name."""
        return INSTANCES.select(call.cloud)

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name of the server, and the URL of the database."""
        name = found.get("hostname") or next(iter(found.get("ip") or ()), None)
        href = next((each["href"] for each in found.get("links") or ()), None)
        return {"hostname": name, "href": href}
