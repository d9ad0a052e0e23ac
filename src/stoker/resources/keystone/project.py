"""OS::Keystone::Project: a project, which owns objects of other services."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Project(RestResource):
    """A project. For administrators only."""

    type_name = "OS::Keystone::Project"
    description = "A project, which owns objects of other services."
    service = "identity"
    support = since("2015.1")
    collection = KINDS["identity", "project"]
    field_names = {"domain": "domain_id", "parent": "parent_id"}

    properties = {
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "domain": declare.by_name(
            "keystone.domain", "Domain", default="default", update_allowed=True
        ),
        "enabled": declare.boolean(
            "Whether the object is enabled.", default=True, update_allowed=True
        ),
        "name": declare.NAME,
        "parent": declare.by_name("keystone.project", "Parent project", support=since("6.0.0")),
        "tags": declare.sequence(
            "Tags of the object.", default=[], update_allowed=True, support=since("10.0.0")
        ),
    }
    attributes = {
        "domain_id": Attribute("Id of the domain.", Type.STRING),
        "enabled": Attribute("Whether the object is enabled.", Type.BOOLEAN),
        "is_domain": Attribute("Whether the project is a domain.", Type.BOOLEAN),
        "name": Attribute("Name of the object.", Type.STRING),
        "parent_id": Attribute("Id of the parent project.", Type.STRING),
        "show": declare.SHOW,
    }

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the domain changes, since Keystone cannot move objects."""
        return "domain" in call.update.changed
