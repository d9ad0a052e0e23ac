"""OS::Manila::SecurityService: a directory service for the users of shares."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class SecurityService(RestResource):
    """A security service."""

    type_name = "OS::Manila::SecurityService"
    description = "A directory service for the users of shares."
    service = "shared-file-system"
    support = since("5.0.0")
    collection = collection(
        "shared-file-system", "security_service", detailed="/security-services/detail"
    )
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "dns_ip": declare.string("Name server of the directory.", update_allowed=True),
        "domain": declare.string("Domain of the directory.", update_allowed=True),
        "name": declare.NAME,
        "password": declare.string("Password of the user.", update_allowed=True, sensitive=True),
        "server": declare.string("Address of the directory.", update_allowed=True),
        "type": declare.choice(
            ["ldap", "kerberos", "active_directory"], "Type of the directory.", required=True
        ),
        "user": declare.string("User for queries of the directory.", update_allowed=True),
    }
