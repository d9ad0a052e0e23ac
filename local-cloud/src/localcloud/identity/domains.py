"""Domains: the owners of users, groups and projects."""

from starlette.routing import BaseRoute

from localcloud.http import Conflict, Forbidden, RequestContext
from localcloud.identity import policy
from localcloud.identity.directory import DEFAULT_DOMAIN, Directory
from localcloud.identity.fields import DESCRIPTION, ENABLED, NAME, OPTIONS
from localcloud.identity.removal import Removal
from localcloud.identity.resource import Kind, Resource, Rules
from localcloud.store import Document

KIND = Kind(
    "domain",
    "domains",
    fields=(NAME, DESCRIPTION, ENABLED, OPTIONS),
    filters=("name", "enabled"),
)


class Domains:
    """The requests on domains."""

    def __init__(self, directory: Directory, removal: Removal) -> None:
        self._directory = directory
        self._removal = removal
        rules = Rules(
            lists=policy.lists_domain_objects,
            reads=self._reads,
            writes=lambda who, document: who.is_admin,
            complete=self.complete,
            change=self.change,
            remove=self.remove,
        )
        self._resource = Resource(directory, directory.domains, KIND, rules)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return self._resource.routes()

    def complete(self, who: RequestContext | None, body: Document) -> Document:
        """Return the document of a new domain."""
        self._refuse_duplicate(body["name"])
        return {"description": "", "enabled": True, "options": {}, "tags": [], **body}

    def change(self, old: Document, changes: Document) -> Document:
        """Return the changed domain."""
        if changes.get("name", old["name"]) != old["name"]:
            self._refuse_duplicate(changes["name"])
        return {**old, **changes}

    def remove(self, domain: Document) -> None:
        """Delete a disabled domain with everything in it; raises :class:`Forbidden` otherwise."""
        if domain["enabled"]:
            raise Forbidden("A domain must be disabled before it can be deleted.")
        if domain["id"] == DEFAULT_DOMAIN:
            raise Forbidden("The default domain cannot be deleted.")
        self._removal.domain(domain)

    def _reads(self, who: RequestContext, domain: Document) -> bool:
        own = {who.domain_id, who.project_domain_id}
        return policy.reads_all(who) or domain["id"] in own

    def _refuse_duplicate(self, name: str) -> None:
        for _ in self._directory.domains.find(name=name):
            raise Conflict(f"There is already a domain named '{name}'.")
