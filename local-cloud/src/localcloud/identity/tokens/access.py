"""The current rights of a token."""

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.identity.model.assignments import SYSTEM, Assignments
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.times import is_past
from localcloud.identity.tokens.tokens import Token, Tokens, unknown_token
from localcloud.web.http import RequestContext, UnauthorizedError

_KEPT = 4096  # tokens with a cached evaluation


class Access(Struct, frozen=True):
    """A token with the current state of the objects that it refers to."""

    token: Token
    user: Document
    user_domain: Document
    roles: tuple[Document, ...]
    project: Document | None = None
    project_domain: Document | None = None
    domain: Document | None = None
    trust: Document | None = None
    application_credential: Document | None = None


class AccessControl:
    """Evaluates tokens against the directory; the token validator of the whole cloud."""

    def __init__(self, directory: Directory, assignments: Assignments, tokens: Tokens) -> None:
        self._directory = directory
        self._assignments = assignments
        self._tokens = tokens
        self._contexts: dict[str, RequestContext] = {}
        self._revision = -1

    def validate(self, token: str) -> RequestContext:
        """Return the owner of a token; raises :class:`UnauthorizedError`.

        Results are cached until data that affects access changes. A token never outlives its trust
        or application credential, so that its own expiry is the only time to check.
        """
        opened = self._tokens.open(token)
        if self._revision != self._directory.revision or len(self._contexts) >= _KEPT:
            self._contexts.clear()
            self._revision = self._directory.revision
        if token not in self._contexts:
            self._contexts[token] = request_context(self.access(opened), token)
        return self._contexts[token]

    def access(self, token: Token) -> Access:
        """Return the access that a token grants.

        Raises :class:`UnauthorizedError` if it grants none.
        """
        user = self.active_user(token.user_id)
        if user.get("tokens_valid_from", "") > token.issued_at:
            raise unknown_token()
        trust = self._trust(token)
        application_credential = self._application_credential(token)
        kind, target = token.scope.kind, token.scope.id
        access = Access(
            token,
            user,
            self._directory.domain(user["domain_id"]),
            roles=tuple(self._roles(token, trust, application_credential)),
            trust=trust,
            application_credential=application_credential,
            **self._scope(kind, target),
        )
        if kind != "none" and not access.roles:
            raise UnauthorizedError("The user has no role on the requested scope.")
        return access

    def active_user(self, user_id: str) -> Document:
        """Return the user; raises :class:`UnauthorizedError` if it is gone or disabled."""
        user = self._directory.users.get(user_id)
        if user is None or not user["enabled"]:
            raise UnauthorizedError("The user does not exist or is disabled.")
        if not self._directory.active_domain(user["domain_id"]):
            raise UnauthorizedError("The domain of the user is disabled.")
        return user

    def _scope(self, kind: str, target: str) -> dict[str, Document]:
        if kind == "project":
            project = self._directory.projects.get(target)
            if project is None or not project["enabled"]:
                raise UnauthorizedError("The project does not exist or is disabled.")
            if not self._directory.active_domain(project["domain_id"]):
                raise UnauthorizedError("The domain of the project is disabled.")
            domain = self._directory.domain(project["domain_id"])
            return {"project": project, "project_domain": domain}
        if kind == "domain":
            if not self._directory.active_domain(target):
                raise UnauthorizedError("The domain does not exist or is disabled.")
            return {"domain": self._directory.domain(target)}
        return {}

    def _roles(
        self, token: Token, trust: Document | None, application_credential: Document | None
    ) -> list[Document]:
        if token.scope.kind == "none":
            return []
        owner = trust["trustor_user_id"] if trust else token.user_id
        target = SYSTEM if token.scope.kind == "system" else token.scope.id
        available = self._assignments.role_ids(owner, token.scope.kind, target)
        limited = trust or application_credential
        if limited is not None:
            asked = self._assignments.with_implied(limited["role_ids"])
            if trust and not asked <= available:
                raise UnauthorizedError("The trustor no longer has the roles of the trust.")
            available &= asked
        return self._assignments.token_roles(available)

    def _trust(self, token: Token) -> Document | None:
        if token.trust_id is None:
            return None
        trust = self._directory.trusts.get(token.trust_id)
        if trust is None or is_past(trust["expires_at"], self._directory.clock.now()):
            raise UnauthorizedError("The trust does not exist or has expired.")
        for party in (trust["trustor_user_id"], trust["trustee_user_id"]):
            self.active_user(party)
        return trust

    def _application_credential(self, token: Token) -> Document | None:
        if token.application_credential_id is None:
            return None
        credential = self._directory.application_credentials.get(token.application_credential_id)
        if credential is None or is_past(credential["expires_at"], self._directory.clock.now()):
            raise UnauthorizedError("The application credential does not exist or has expired.")
        if credential["access_rules"]:  # an earlier release accepted them
            raise UnauthorizedError(
                "The access rules of the application credential are not enforced."
            )
        return credential


def request_context(access: Access, text: str) -> RequestContext:
    """Return the access in the form that all services use."""
    project, project_domain = access.project, access.project_domain
    return RequestContext(
        user_id=access.user["id"],
        user_domain_id=access.user["domain_id"],
        user_name=access.user["name"],
        project_id=project["id"] if project else None,
        project_name=project["name"] if project else "",
        project_domain_id=project_domain["id"] if project_domain else None,
        domain_id=access.domain["id"] if access.domain else None,
        system=access.token.scope.kind == "system",
        roles=tuple(role["name"] for role in access.roles),
        token=text,
        trust_id=access.token.trust_id,
        application_credential_id=access.token.application_credential_id,
    )
