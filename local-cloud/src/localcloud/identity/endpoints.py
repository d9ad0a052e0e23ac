"""All requests of the identity API."""

from starlette.routing import BaseRoute

from localcloud.identity import users
from localcloud.identity.application_credentials import ApplicationCredentials
from localcloud.identity.auth import Auth
from localcloud.identity.credentials import Credentials
from localcloud.identity.domains import domains
from localcloud.identity.ec2 import Ec2
from localcloud.identity.grants import Grants
from localcloud.identity.groups import Groups
from localcloud.identity.identity import Identity
from localcloud.identity.projects import Projects, limit_routes
from localcloud.identity.role_assignments import RoleAssignments
from localcloud.identity.roles import Roles
from localcloud.identity.services import Services
from localcloud.identity.trusts import Trusts


def routes(identity: Identity) -> list[BaseRoute]:
    """Return the routes of all requests, the busiest first."""
    directory, assignments, removal = identity.directory, identity.assignments, identity.removal
    return [
        *Auth(identity).routes(),
        *Ec2(directory, identity.authentication).routes(),
        *Trusts(directory, assignments).routes(),
        *users.Users(directory, assignments, removal).routes(),
        *Credentials(directory, assignments).routes(),
        *Projects(directory, removal).routes(),
        *domains(directory, removal).routes(),
        *Groups(directory, removal, users.KIND).routes(),
        *Roles(directory, assignments, removal).routes(),
        *Grants(directory, assignments).routes(),
        *RoleAssignments(directory, assignments).routes(),
        *Services(directory, removal).routes(),
        *ApplicationCredentials(directory, assignments).routes(),
        *limit_routes(directory),
    ]
