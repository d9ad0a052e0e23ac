"""Trusts for services that act for their users, and tokens of such trusts."""

from functools import cached_property

from localcloud.core.cloud import Cloud
from localcloud.identity.identity import Identity, identity_of
from localcloud.identity.model.directory import new_id
from localcloud.identity.tokens.authentication import Proof
from localcloud.web.http import ApiError, RequestContext


class Trusts:
    """Trusts of users in a service.

    A trust has the roles and the project of the token that requested it.
    """

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    @cached_property
    def _identity(self) -> Identity:
        cloud = self._cloud
        return identity_of(cloud.store, cloud.clock, cloud.settings)

    def make(self, who: RequestContext) -> str:
        """Return the ID of a new trust.

        It is removed with the trust of the token, if the token has one.
        """
        identity, project_id = self._identity, who.require_project()
        held = identity.assignments.role_ids(who.user_id, "project", project_id)
        known = (identity.directory.roles.get(role_id) for role_id in held)
        roles = [role["id"] for role in known if role is not None and role["name"] in who.roles]
        trust = {
            "id": new_id(),
            "trustor_user_id": who.user_id,
            "trustee_user_id": who.user_id,
            "project_id": project_id,
            "impersonation": True,
            "role_ids": roles,
            "expires_at": None,
            "remaining_uses": None,
            "deleted_at": None,
            "allow_redelegation": False,
            "redelegation_count": 0,
            "redelegated_trust_id": who.trust_id,
        }
        identity.directory.trusts.put(trust)
        return str(trust["id"])

    def copy(self, trust_id: str) -> str | None:
        """Return the ID of a copy of a trust; None if the trust does not exist."""
        trust = self._identity.directory.trusts.get(trust_id)
        if trust is None:
            return None
        made = {**trust, "id": new_id()}
        self._identity.directory.trusts.put(made)
        return str(made["id"])

    def remove(self, trust_id: str) -> None:
        """Remove a trust, if it exists."""
        self._identity.directory.trusts.delete(trust_id)

    def token(self, trust_id: str) -> str | None:
        """Return a token of a trust; None if the trust is no longer valid."""
        trust = self._identity.directory.trusts.get(trust_id)
        if trust is None:
            return None
        proof = Proof(trust["trustee_user_id"], ("password",))
        try:
            scope = {"OS-TRUST:trust": {"id": trust_id}}
            return self._identity.authentication.issue(proof, scope).text
        except ApiError:
            return None

    def endpoint(self, service_type: str) -> str | None:
        """Return the URL of a service of this type in the catalog, or None."""
        directory = self._identity.directory
        for service in directory.services.find(type=service_type, enabled=True):
            found = directory.endpoints.find(service_id=service["id"], interface="public")
            for endpoint in found:
                if endpoint["enabled"]:
                    return str(endpoint["url"])
        return None
