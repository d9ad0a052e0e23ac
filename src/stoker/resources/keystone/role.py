"""OS::Keystone::Role: a role of users and groups.

Names of roles are unique in their domain.
"""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class Role(RestResource):
    """A role. For administrators only."""

    type_name = "OS::Keystone::Role"
    description = "A role, which gives users and groups permissions."
    service = "identity"
    support = since("2015.1")
    collection = KINDS["identity", "role"]
    marker_field = ""
    field_names = {"domain": "domain_id"}

    properties = {
        "domain": declare.by_name("keystone.domain", "Domain", support=since("16.0.0")),
        "name": declare.NAME,
    }
