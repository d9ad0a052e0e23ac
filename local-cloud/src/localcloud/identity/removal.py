"""What goes when something is deleted: everything that is nothing without it."""

from localcloud.identity.assignments import Assignments
from localcloud.identity.directory import Directory
from localcloud.store import Document


class Removal:
    """Deletes objects with their dependents. Callers hold a transaction."""

    def __init__(self, directory: Directory, assignments: Assignments) -> None:
        self._directory = directory
        self._assignments = assignments

    def domain(self, domain: Document) -> None:
        """Delete the domain, its users, groups, projects and roles."""
        directory, key = self._directory, domain["id"]
        for user in list(directory.users.find(domain_id=key)):
            self.user(user)
        for group in list(directory.groups.find(domain_id=key)):
            self.group(group)
        for project in list(directory.projects.find(domain_id=key)):
            self.project(project)
        for role in [r for r in directory.roles.values() if r.get("domain_id") == key]:
            self.role(role)
        self._assignments.forget("target_id", key)
        directory.domains.delete(key)

    def project(self, project: Document) -> None:
        """Delete the project, its assignments, trusts and credentials."""
        directory, key = self._directory, project["id"]
        self._assignments.forget("target_id", key)
        for collection in (
            directory.trusts,
            directory.credentials,
            directory.application_credentials,
        ):
            directory.delete_all(collection, collection.find(project_id=key))
        for user in directory.users.values():
            if user.get("default_project_id") == key:
                kept = {n: v for n, v in user.items() if n != "default_project_id"}
                directory.users.put(kept)
        directory.projects.delete(key)

    def user(self, user: Document) -> None:
        """Delete the user, memberships, assignments, trusts and credentials."""
        directory, key = self._directory, user["id"]
        self._assignments.forget("actor_id", key)
        directory.delete_all(directory.memberships, directory.memberships.find(user_id=key))
        for field in ("trustor_user_id", "trustee_user_id"):
            directory.delete_all(directory.trusts, directory.trusts.find(**{field: key}))
        for collection in (directory.credentials, directory.application_credentials):
            directory.delete_all(collection, collection.find(user_id=key))
        directory.users.delete(key)

    def group(self, group: Document) -> None:
        """Delete the group, its memberships and assignments."""
        directory, key = self._directory, group["id"]
        self._assignments.forget("actor_id", key)
        directory.delete_all(directory.memberships, directory.memberships.find(group_id=key))
        directory.groups.delete(key)

    def role(self, role: Document) -> None:
        """Delete the role, its assignments and the rules that imply it or that it implies."""
        directory, key = self._directory, role["id"]
        self._assignments.forget("role_id", key)
        for field in ("prior_id", "implied_id"):
            directory.delete_all(
                directory.implied_roles, directory.implied_roles.find(**{field: key})
            )
        directory.roles.delete(key)

    def service(self, service: Document) -> None:
        """Delete the service and its endpoints."""
        directory, key = self._directory, service["id"]
        directory.delete_all(directory.endpoints, directory.endpoints.find(service_id=key))
        directory.services.delete(key)
