"""The objects of the identity service, and look-ups that all its parts need."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from localcloud.core.clock import Clock
from localcloud.core.settings import Settings
from localcloud.core.store import Collection, Document, Store
from localcloud.web.http import BadRequestError, NotFoundError

DEFAULT_DOMAIN = "default"


def new_id() -> str:
    """Return a new ID: 32 hexadecimal digits."""
    return uuid4().hex


def precise(moment: datetime) -> str:
    """Return a time in the format of tokens, with microseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Directory:
    """All collections of the identity service."""

    def __init__(self, store: Store, clock: Clock, settings: Settings) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings
        collection = store.collection
        self.domains = collection("identity.domain", index=("name",))
        self.projects = collection("identity.project", index=("domain_id", "name", "parent_id"))
        self.users = collection("identity.user", index=("domain_id", "name"))
        self.groups = collection("identity.group", index=("domain_id", "name"))
        self.memberships = collection("identity.membership", index=("user_id", "group_id"))
        self.roles = collection("identity.role", index=("name",))
        self.implied_roles = collection("identity.implied_role", index=("prior_id",))
        self.assignments = collection(
            "identity.assignment", index=("actor_id", "target_id", "role_id")
        )
        self.services = collection("identity.service", index=("type",))
        self.endpoints = collection("identity.endpoint", index=("service_id",))
        self.regions = collection("identity.region", index=("parent_region_id",))
        self.trusts = collection("identity.trust", index=("trustor_user_id", "trustee_user_id"))
        self.credentials = collection("identity.credential", index=("user_id",))
        self.application_credentials = collection(
            "identity.application_credential", index=("user_id",)
        )
        self.revocations = collection("identity.revocation")

    @property
    def revision(self) -> int:
        """A number that grows with each change of data that affects access."""
        return sum(
            collection.revision
            for collection in (
                self.domains,
                self.projects,
                self.users,
                self.memberships,
                self.roles,
                self.implied_roles,
                self.assignments,
                self.trusts,
                self.application_credentials,
            )
        )

    def url(self, path: str) -> str:
        """Return the URL of a path below ``/v3``."""
        return f"{self.settings.url}/identity/v3/{path}"

    def links(self, path: str) -> dict[str, str | None]:
        """Return the links of a list below ``/v3`` that has one page."""
        return {"self": self.url(path), "next": None, "previous": None}

    def domain(self, id: str) -> Document:  # noqa: A002
        """Return the domain; raises :class:`NotFoundError`."""
        return self._get(self.domains, "domain", id)

    def project(self, id: str) -> Document:  # noqa: A002
        """Return the project, or the domain in the form of a project.

        Raises :class:`NotFoundError`.
        """
        project = self.projects.get(id)
        if project is None and (domain := self.domains.get(id)):
            project = {**domain, "domain_id": None, "parent_id": None, "is_domain": True}
        if project is None:
            raise missing("project", id)
        return project

    def user(self, id: str) -> Document:  # noqa: A002
        """Return the user; raises :class:`NotFoundError`."""
        return self._get(self.users, "user", id)

    def group(self, id: str) -> Document:  # noqa: A002
        """Return the group; raises :class:`NotFoundError`."""
        return self._get(self.groups, "group", id)

    def role(self, id: str) -> Document:  # noqa: A002
        """Return the role; raises :class:`NotFoundError`."""
        return self._get(self.roles, "role", id)

    def trust(self, id: str) -> Document:  # noqa: A002
        """Return the trust; raises :class:`NotFoundError`."""
        return self._get(self.trusts, "trust", id)

    def require_domain(self, id: str | None) -> str:  # noqa: A002
        """Return the ID of a domain in a request body; raises :class:`BadRequestError`."""
        if id is None or id not in self.domains:
            raise BadRequestError(f"There is no domain '{id}'.")
        return id

    def find_domain(self, reference: Any) -> Document:
        """Return the domain that ``{"id": ..}`` or ``{"name": ..}`` refers to.

        The case of the name does not matter: clients write both ``Default`` and ``default``.
        """
        name = reference.get("name") if isinstance(reference, dict) else None
        if isinstance(name, str) and "id" not in reference:
            for domain in self.domains.values():
                if domain["name"].lower() == name.lower():
                    return domain
        return self._find(self.domains, "domain", reference)

    def find_project(self, reference: Any) -> Document:
        """Return the project that an ID, or a name with its domain, refers to."""
        return self._find(self.projects, "project", reference)

    def find_user(self, reference: Any) -> Document:
        """Return the user that an ID, or a name with its domain, refers to."""
        return self._find(self.users, "user", reference)

    def active_domain(self, id: str) -> bool:  # noqa: A002
        """Return whether the domain exists and is enabled."""
        domain = self.domains.get(id)
        return domain is not None and bool(domain["enabled"])

    def groups_of(self, user_id: str) -> list[str]:
        """Return the IDs of the user's groups."""
        return [m["group_id"] for m in self.memberships.find(user_id=user_id)]

    def ancestors(self, project: Document) -> list[Document]:
        """Return the parent projects, the nearest first, without the domain."""
        found = []
        parent = self.projects.get(project.get("parent_id") or "")
        while parent is not None:
            found.append(parent)
            parent = self.projects.get(parent.get("parent_id") or "")
        return found

    def descendants(self, project_id: str) -> list[Document]:
        """Return all projects below this one, parents before their children."""
        found = list(self.projects.find(parent_id=project_id))
        for project in found:
            found.extend(self.projects.find(parent_id=project["id"]))
        return found

    def _find(self, collection: Collection, noun: str, reference: Any) -> Document:
        if not isinstance(reference, dict) or not {"id", "name"} & reference.keys():
            raise BadRequestError(f"A {noun} must be given by its id, or by its name and domain.")
        key = reference.get("id", reference.get("name"))
        if not isinstance(key, str):
            raise BadRequestError(f"The id and the name of a {noun} must be strings.")
        if "id" in reference:
            return self._get(collection, noun, key)
        within = {}
        if collection is not self.domains:
            within = {"domain_id": self.find_domain(reference.get("domain"))["id"]}
        for document in collection.find(name=key, **within):
            return document
        raise missing(noun, key)

    def _get(self, collection: Collection, noun: str, key: str) -> Document:
        document = collection.get(key)
        if document is None:
            raise missing(noun, key)
        return document


def missing(noun: str, key: str) -> NotFoundError:
    """Return the error for an object that does not exist."""
    return NotFoundError(f"There is no {noun} '{key}'.")
