"""Effective roles: assignments, groups, inheritance, implied roles."""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import asdict

from localcloud.core.store import Document
from localcloud.identity.model.directory import Directory

SYSTEM = "all"  # the target id of assignments on the whole system


class Grant(Struct, frozen=True):
    """A role of a user or group on a target."""

    actor_type: str  # `user` or `group`
    actor_id: str
    target_type: str  # `project`, `domain` or `system`
    target_id: str
    role_id: str
    # Counts for the projects below the target, not for the target itself.
    inherited: bool = False

    @property
    def id(self) -> str:
        """The key of the stored grant, which prevents duplicates."""
        kind = "inherited" if self.inherited else "direct"
        return f"{self.actor_id}:{self.target_type}:{self.target_id}:{self.role_id}:{kind}"

    def document(self) -> Document:
        """Return the grant in its stored form."""
        return {"id": self.id, **asdict(self)}


def _stored(document: Document) -> Grant:
    return Grant(**{field: document[field] for field in Grant.__struct_fields__})


class Assignments:
    """Evaluates the assignments of a directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def all(self) -> Iterator[Grant]:
        """Return all grants."""
        return map(_stored, self._directory.assignments.values())

    def grants_of(self, user_id: str) -> Iterator[Grant]:
        """Yield the grants of the user, and those of the user's groups."""
        for actor in (user_id, *self._directory.groups_of(user_id)):
            yield from map(_stored, self._directory.assignments.find(actor_id=actor))

    def role_names(self, user_id: str) -> set[str]:
        """Return the names of the roles that the user was granted anywhere."""
        granted = {grant.role_id for grant in self.grants_of(user_id)}
        roles = map(self._directory.roles.get, granted)
        return {str(role["name"]) for role in roles if role is not None}

    def role_ids(self, user_id: str, target_type: str, target_id: str) -> set[str]:
        """Return the IDs of all roles that the user has on the target, including implied ones."""
        covering = self._covering(target_type, target_id)
        direct = {
            grant.role_id
            for grant in self.grants_of(user_id)
            if (grant.target_type, grant.target_id, grant.inherited) in covering
        }
        return self.with_implied(direct)

    def with_implied(self, role_ids: Iterable[str]) -> set[str]:
        """Return these roles and all that they imply."""
        found = set(role_ids)
        waiting = list(found)
        while waiting:
            for rule in self._directory.implied_roles.find(prior_id=waiting.pop()):
                if rule["implied_id"] not in found:
                    found.add(rule["implied_id"])
                    waiting.append(rule["implied_id"])
        return found

    def token_roles(self, role_ids: Iterable[str]) -> list[Document]:
        """Return those of the roles that a token shows, which excludes roles of a single domain."""
        roles = [self._directory.roles.get(role_id) for role_id in role_ids]
        shown = [role for role in roles if role is not None and role.get("domain_id") is None]
        return sorted(shown, key=lambda role: str(role["name"]))

    def projects_of(self, user_id: str) -> list[Document]:
        """Return the enabled projects on which the user has a role."""
        targets = {(g.target_type, g.target_id, g.inherited) for g in self.grants_of(user_id)}
        return [
            project
            for project in self._directory.projects.values()
            if project["enabled"]
            and self._directory.active_domain(project["domain_id"])
            and targets & self._covering("project", project["id"])
        ]

    def domains_of(self, user_id: str) -> list[Document]:
        """Return the enabled domains on which the user has a role."""
        targets = {
            g.target_id
            for g in self.grants_of(user_id)
            if g.target_type == "domain" and not g.inherited
        }
        return [d for d in self._directory.domains.values() if d["id"] in targets and d["enabled"]]

    def has_system_role(self, user_id: str) -> bool:
        """Return whether the user has a role on the system."""
        return any(grant.target_type == "system" for grant in self.grants_of(user_id))

    def _covering(self, target_type: str, target_id: str) -> set[tuple[str, str, bool]]:
        covering = {(target_type, target_id, False)}
        project = self._directory.projects.get(target_id) if target_type == "project" else None
        if project is not None:
            covering.add(("domain", project["domain_id"], True))
            covering |= {("project", p["id"], True) for p in self._directory.ancestors(project)}
        return covering

    def covers(self, grant: Grant, project_id: str) -> bool:
        """Return whether an inherited grant reaches this project."""
        target = (grant.target_type, grant.target_id, grant.inherited)
        return grant.inherited and target in self._covering("project", project_id)
