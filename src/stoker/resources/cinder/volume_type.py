"""OS::Cinder::VolumeType: a volume type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import CloudError, gone_is_fine, is_conflict
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import VOLUME_TYPES
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_IS_PUBLIC = "os-volume-type-access:is_public"


class VolumeType(RestResource):
    """A type of volumes. For administrators only."""

    type_name = "OS::Cinder::VolumeType"
    description = "A volume type."
    service = "block-storage"
    support = since("2015.1")
    collection = VOLUME_TYPES
    unique = True
    marker_field = ""
    follow_up_requests = (
        FollowUpRequest("projects", lambda call: _set_projects(call), lambda call: _projects(call)),
        FollowUpRequest("metadata", lambda call: _set_specs(call), lambda call: _specs(call)),
    )
    properties = {
        "description": declare.string(
            "Description of the type.", update_allowed=True, support=since("5.0.0")
        ),
        "is_public": declare.boolean(
            "Whether every project can use the type.",
            default=True,
            update_allowed=True,
            support=since("5.0.0"),
        ),
        "metadata": declare.mapping("Extra specs of the type.", update_allowed=True),
        "name": declare.string("Name of the type.", required=True, update_allowed=True),
        "projects": declare.sequence(
            "Projects that can use the type, if it is not public.",
            default=[],
            update_allowed=True,
            support=since("5.0.0"),
            items=declare.by_name("keystone.project", "Project"),
        ),
    }
    attributes = {"show": declare.SHOW}

    def creation_body(self, call: Call) -> Object:
        """Return the fields of the type in Cinder's format."""
        body = super().creation_body(call)
        body[_IS_PUBLIC] = body.pop("is_public")
        return body

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all types, including private ones."""
        return VOLUME_TYPES.select(call.cloud, is_public="None")

    def validate(self, properties: Mapping[str, Any]) -> list[Diagnostic]:
        """Check that a public type has no list of projects."""
        if properties.get("is_public") is True and properties.get("projects"):
            message = 'Can not specify property "projects" if the volume type is public.'
            return [Diagnostic("invalid-volume-type", message, ("projects",))]
        return []


def _set_specs(call: Call) -> None:
    """Set the extra specs, and delete others."""
    path = VOLUME_TYPES.at(call.object_id, "/extra_specs")
    desired = as_texts(call.properties.get("metadata"))
    for key in _specs(call).keys() - desired.keys():
        with gone_is_fine():
            VOLUME_TYPES.ask(call.cloud, "DELETE", f"{path}/{key}")
    if desired:
        VOLUME_TYPES.ask(call.cloud, "POST", path, json={"extra_specs": desired})


def _specs(call: Call) -> dict[str, Any]:
    path = VOLUME_TYPES.at(call.object_id, "/extra_specs")
    return dict(VOLUME_TYPES.ask(call.cloud, "GET", path).get("extra_specs") or {})


def _set_projects(call: Call) -> None:
    """Give exactly these projects access to a private type."""
    if call.properties.get("is_public"):
        return
    desired, present = set(call.properties.get("projects") or ()), set(_projects(call))
    for project in sorted(desired - present):
        _grant(call, "addProjectAccess", project)
    for project in sorted(present - desired):
        _grant(call, "removeProjectAccess", project)


def _grant(call: Call, action: str, project: str) -> None:
    path = VOLUME_TYPES.at(call.object_id, "/action")
    try:
        with gone_is_fine():
            VOLUME_TYPES.ask(call.cloud, "POST", path, json={action: {"project": project}})
    except CloudError as fault:
        if not is_conflict(fault):  # The project has access already.
            raise


def _projects(call: Call) -> list[str]:
    path = VOLUME_TYPES.at(call.object_id, "/os-volume-type-access")
    with gone_is_fine():  # A public type has no list.
        answer = VOLUME_TYPES.ask(call.cloud, "GET", path)
        return [str(each["project_id"]) for each in answer.get("volume_type_access") or ()]
    return []
