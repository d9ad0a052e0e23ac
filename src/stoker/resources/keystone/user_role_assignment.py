"""OS::Keystone::UserRoleAssignment: roles of an existing user."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.keystone.role_assignment import RoleAssignment
from stoker.resources.keystone.roles import ROLES
from stoker.schema.support import since


class UserRoleAssignment(RoleAssignment):
    """Roles of a user. For administrators only."""

    type_name = "OS::Keystone::UserRoleAssignment"
    id_form = "USER"
    description = "Roles of a user in projects and domains."
    support = since("5.0.0")
    holders = KINDS["identity", "user"]
    holder = "user"

    properties = {
        "roles": ROLES,
        "user": declare.by_name("keystone.user", "User", required=True, update_allowed=True),
    }
