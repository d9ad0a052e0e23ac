"""OS::Keystone::GroupRoleAssignment: roles of an existing group."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.keystone.role_assignment import RoleAssignment
from stoker.resources.keystone.roles import ROLES
from stoker.schema.support import since


class GroupRoleAssignment(RoleAssignment):
    """Roles of a group. For administrators only."""

    type_name = "OS::Keystone::GroupRoleAssignment"
    id_form = "GROUP"
    description = "Roles of a group in projects and domains."
    support = since("5.0.0")
    holders = KINDS["identity", "group"]
    holder = "group"

    properties = {
        "group": declare.by_name("keystone.group", "Group", required=True, update_allowed=True),
        "roles": ROLES,
    }
