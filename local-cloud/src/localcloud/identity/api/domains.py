"""Domains: the owners of users, groups and projects."""

from localcloud.core.store import Document
from localcloud.identity.api.resource import Kind, Resource, Rules
from localcloud.identity.model import policy
from localcloud.identity.model.directory import DEFAULT_DOMAIN, Directory
from localcloud.identity.model.fields import DESCRIPTION, ENABLED, NAME, OPTIONS
from localcloud.identity.model.removal import Removal
from localcloud.web.http import ForbiddenError, RequestContext

KIND = Kind(
    "domain",
    "domains",
    fields=(NAME, DESCRIPTION, ENABLED, OPTIONS),
    filters=("name", "enabled"),
    unique_names=True,
)


def domains(directory: Directory, removal: Removal) -> Resource:
    """Return the requests on domains."""

    def remove(domain: Document) -> None:
        if domain["enabled"]:
            raise ForbiddenError("A domain must be disabled before it can be deleted.")
        if domain["id"] == DEFAULT_DOMAIN:
            raise ForbiddenError("The default domain cannot be deleted.")
        removal.domain(domain)

    rules = Rules(
        lists=policy.lists_domain_objects,
        reads=_reads,
        complete=lambda who, body: {
            "description": "",
            "enabled": True,
            "options": {},
            "tags": [],
            **body,
        },
        remove=remove,
    )
    return Resource(directory, directory.domains, KIND, rules)


def _reads(who: RequestContext, domain: Document) -> bool:
    return policy.reads_all(who) or domain["id"] in {who.domain_id, who.project_domain_id}
