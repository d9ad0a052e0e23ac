"""All requests of the identity API."""

from starlette.routing import BaseRoute

from localcloud.identity.api import users
from localcloud.identity.api.application_credentials import ApplicationCredentials
from localcloud.identity.api.auth import Auth
from localcloud.identity.api.credentials import Credentials
from localcloud.identity.api.domains import domains
from localcloud.identity.api.ec2 import Ec2
from localcloud.identity.api.grants import Grants
from localcloud.identity.api.groups import Groups
from localcloud.identity.api.projects import Projects, limit_routes
from localcloud.identity.api.role_assignments import RoleAssignments
from localcloud.identity.api.roles import Roles
from localcloud.identity.api.services import Services
from localcloud.identity.api.trusts import Trusts
from localcloud.identity.identity import Identity


def routes(identity: Identity) -> list[BaseRoute]:
    """Return the routes of all requests, the most frequent first."""
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
