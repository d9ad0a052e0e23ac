"""OS::Heat::SoftwareDeploymentGroup: applies a configuration on several servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.kernel.diagnostics import Path
from stoker.resources.base import declare
from stoker.resources.heat.software_deployment import COMMON, SoftwareDeployment
from stoker.resources.shared.groups import member_naming
from stoker.resources.shared.groups.batches import BATCHED, in_batches
from stoker.schema.properties import Attribute, OpenAttributes, Type
from stoker.schema.resource_type import Nested, NestingCall, NestingType
from stoker.schema.support import since
from stoker.schema.unknown import unknown_in

SERVERS = declare.mapping(
    "Names of the deployments -> ids of the servers.", required=True, update_allowed=True
)
# Attributes of the group -> attributes of its members.
_OF_ALL = {
    "deploy_stdouts": "deploy_stdout",
    "deploy_stderrs": "deploy_stderr",
    "deploy_status_codes": "deploy_status_code",
}


class SoftwareDeploymentGroup(NestingType):
    """A nested stack with a deployment for each server, under the name of the server."""

    type_name = "OS::Heat::SoftwareDeploymentGroup"
    description = "Applies a configuration on several servers."
    support = since("5.0.0")
    properties = {"servers": SERVERS, **COMMON}
    attributes = OpenAttributes(
        deploy_stdouts=Attribute("Standard output by server name.", Type.MAP),
        deploy_stderrs=Attribute("Standard error by server name.", Type.MAP),
        deploy_status_codes=Attribute("Exit status by server name.", Type.MAP),
    )
    update_policies = {
        "rolling_update": declare.mapping("Batches for changes.", entries=BATCHED),
        "batch_create": declare.mapping("Batches for new deployments.", entries=BATCHED),
    }
    member: ClassVar[str] = SoftwareDeployment.type_name

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the names of the servers are known, even if their ids are not."""
        servers = properties.get("servers")
        others = [value for name, value in properties.items() if name != "servers"]
        return isinstance(servers, Mapping) and unknown_in(others) is None

    def written_at(self, path: Path) -> Path | None:
        """Translate a path in the nested template: to the server's id, or to a shared property."""
        if path[:1] != ("resources",) or path[2:3] != ("properties",):
            return None
        return ("servers", *path[1:2]) if path[3:4] == ("server",) else path[3:]

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack, in batches if a policy requests that."""
        servers = call.properties["servers"]
        member_naming.check_number(len(servers))
        names = sorted(servers)
        common = {
            name: value
            for name, value in call.properties.items()
            if name != "servers" and value is not None
        }
        resources = {
            name: {"type": self.member, "properties": {**common, "server": servers[name]}}
            for name in names
        }
        policy, batched = _batched(call, names)
        shown = _outputs(names, call.attributes_used)
        return Nested(
            member_naming.template(resources, shown),
            batches=in_batches(batched, policy),
            pause=float(policy.get("pause_time") or 0),
        )


def _outputs(names: list[str], used: frozenset[str]) -> dict[str, Any]:
    """Return the used attributes, each as a map with the values of all members."""
    parts = {name: _OF_ALL.get(name, name) for name in (*_OF_ALL, *sorted(used)) if name != "show"}
    values: dict[str, Any] = {
        name: {member: {"get_attr": [member, inner]} for member in names}
        for name, inner in parts.items()
    }
    values["refs_map"] = {name: {"get_resource": name} for name in names}
    return {name: {"value": value} for name, value in values.items()}


def _batched(call: NestingCall, names: list[str]) -> tuple[Mapping[str, Any], list[str]]:
    """Return the policy for batches, and its members.

    A changed property updates all members; otherwise only new members are created.
    """
    rolling = call.update_policy.get("rolling_update")
    changes = any(
        call.previous.get(name) != value
        for name, value in call.properties.items()
        if name != "servers"
    )
    if call.members and changes and rolling is not None:
        return rolling, names
    new = [name for name in names if name not in call.members]
    creating = call.update_policy.get("batch_create")
    return (creating, new) if creating is not None else ({}, [])
