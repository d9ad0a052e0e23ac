"""Removal of objects together with their dependents."""

from localcloud.core.store import Document
from localcloud.identity.model.directory import Directory


class Removal:
    """Deletes objects with their dependents. Callers hold a transaction."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

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
        directory.assignments.delete_all(target_id=key)
        directory.domains.delete(key)

    def project(self, project: Document) -> None:
        """Delete the project, its assignments, trusts and credentials."""
        directory, key = self._directory, project["id"]
        directory.assignments.delete_all(target_id=key)
        directory.trusts.delete_all(project_id=key)
        directory.credentials.delete_all(project_id=key)
        directory.application_credentials.delete_all(project_id=key)
        for user in directory.users.values():
            if user.get("default_project_id") == key:
                remaining = {n: v for n, v in user.items() if n != "default_project_id"}
                directory.users.put(remaining)
        directory.projects.delete(key)

    def user(self, user: Document) -> None:
        """Delete the user, memberships, assignments, trusts and credentials."""
        directory, key = self._directory, user["id"]
        directory.assignments.delete_all(actor_id=key)
        directory.memberships.delete_all(user_id=key)
        directory.trusts.delete_all(trustor_user_id=key)
        directory.trusts.delete_all(trustee_user_id=key)
        directory.credentials.delete_all(user_id=key)
        directory.application_credentials.delete_all(user_id=key)
        directory.users.delete(key)

    def group(self, group: Document) -> None:
        """Delete the group, its memberships and assignments."""
        directory, key = self._directory, group["id"]
        directory.assignments.delete_all(actor_id=key)
        directory.memberships.delete_all(group_id=key)
        directory.groups.delete(key)

    def role(self, role: Document) -> None:
        """Delete the role, its assignments and the rules that imply it or that it implies."""
        directory, key = self._directory, role["id"]
        directory.assignments.delete_all(role_id=key)
        directory.implied_roles.delete_all(prior_id=key)
        directory.implied_roles.delete_all(implied_id=key)
        directory.roles.delete(key)

    def service(self, service: Document) -> None:
        """Delete the service and its endpoints."""
        directory, key = self._directory, service["id"]
        directory.endpoints.delete_all(service_id=key)
        directory.services.delete(key)
