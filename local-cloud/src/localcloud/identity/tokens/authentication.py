"""Authentication: from the body of a request to a token."""

from typing import Any

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.identity.model.assignments import SYSTEM, Assignments
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.times import is_past
from localcloud.identity.tokens.access import Access, AccessControl
from localcloud.identity.tokens.attempts import Attempts
from localcloud.identity.tokens.passwords import verify
from localcloud.identity.tokens.tokens import Scope, Token, Tokens
from localcloud.web.http import (
    ApiError,
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    UnauthorizedError,
)

_METHOD_LIMIT = 8


class Proof(Struct, frozen=True):
    """The authenticated user, and the methods used."""

    user_id: str
    methods: tuple[str, ...]
    parent: Token | None = None
    application_credential: Document | None = None


class Issued(Struct, frozen=True):
    """A new token: its text and its content."""

    text: str
    access: Access


class Authentication:
    """Evaluates the methods of an authentication request and issues tokens."""

    def __init__(
        self,
        directory: Directory,
        assignments: Assignments,
        tokens: Tokens,
        control: AccessControl,
        attempts: Attempts,
    ) -> None:
        self._directory = directory
        self._assignments = assignments
        self._tokens = tokens
        self._control = control
        self._attempts = attempts

    def authenticate(self, auth: dict[str, Any]) -> Issued:
        """Return a token for the content of ``auth``; raises an :class:`ApiError`."""
        identity = auth.get("identity")
        if not isinstance(identity, dict):
            raise BadRequestError("The object 'auth' must have an object 'identity'.")
        proof = self._prove(identity)
        return self.issue(proof, auth.get("scope"))

    def issue(self, proof: Proof, scope: Any) -> Issued:
        """Return a token for an authenticated user and the requested scope, which may be None."""
        user = self._control.active_user(proof.user_id)
        if isinstance(scope, dict) and "OS-TRUST:trust" in scope:
            return self._issue_for_trust(proof, scope["OS-TRUST:trust"])
        if proof.application_credential is not None:
            return self._issue_for_credential(proof, proof.application_credential, scope)
        target = self._default_scope(user) if scope is None else self._scope(scope)
        text, token = self._tokens.issue(user["id"], proof.methods, target, parent=proof.parent)
        return Issued(text, self._control.access(token))

    def _issue_for_trust(self, proof: Proof, reference: Any) -> Issued:
        if not isinstance(reference, dict) or not isinstance(reference.get("id"), str):
            raise BadRequestError("A trust must be given by its id.")
        trust = self._directory.trusts.get(reference["id"])
        if trust is None:
            raise UnauthorizedError("The trust does not exist or has expired.")
        if proof.user_id != trust["trustee_user_id"]:
            raise ForbiddenError("Only the trustee may use a trust.")
        if proof.parent is not None and proof.parent.trust_id is not None:
            raise ForbiddenError("A token of a trust cannot be exchanged for another one.")
        project = trust["project_id"]
        text, token = self._tokens.issue(
            trust["trustor_user_id"] if trust["impersonation"] else proof.user_id,
            proof.methods,
            Scope("project", project) if project else Scope(),
            parent=proof.parent,
            expires_at=trust["expires_at"],
            trust_id=trust["id"],
        )
        try:
            access = self._control.access(token)
        except UnauthorizedError as error:
            raise ForbiddenError(error.message) from error
        self._use_once(trust)
        return Issued(text, access)

    def _use_once(self, trust: Document) -> None:
        remaining = trust["remaining_uses"]
        if remaining is None:
            return
        if remaining <= 0:
            raise ForbiddenError("The trust has been used as often as it may be.")
        self._directory.trusts.put({**trust, "remaining_uses": remaining - 1})

    def _issue_for_credential(self, proof: Proof, credential: Document, scope: Any) -> Issued:
        target = Scope("project", credential["project_id"])
        if scope is not None and self._scope(scope) != target:
            raise UnauthorizedError("An application credential is good for its own project alone.")
        text, token = self._tokens.issue(
            proof.user_id,
            proof.methods,
            target,
            parent=proof.parent,
            expires_at=credential["expires_at"],
            application_credential_id=credential["id"],
        )
        return Issued(text, self._control.access(token))

    def _default_scope(self, user: Document) -> Scope:
        project = user.get("default_project_id")
        if project and self._assignments.role_ids(user["id"], "project", project):
            found = self._directory.projects.get(project)
            if found and found["enabled"] and self._directory.active_domain(found["domain_id"]):
                return Scope("project", project)
        return Scope()

    def _scope(self, scope: Any) -> Scope:
        if scope == "unscoped" or (isinstance(scope, dict) and "unscoped" in scope):
            return Scope()
        if scope == {"system": {"all": True}}:
            return Scope("system", SYSTEM)
        try:
            if isinstance(scope, dict) and scope.keys() == {"project"}:
                return Scope("project", self._directory.find_project(scope["project"])["id"])
            if isinstance(scope, dict) and scope.keys() == {"domain"}:
                return Scope("domain", self._directory.find_domain(scope["domain"])["id"])
        except NotFoundError as error:
            raise UnauthorizedError("The requested scope does not exist.") from error
        raise BadRequestError("The scope must be one of project, domain, system, OS-TRUST:trust.")

    def _prove(self, identity: dict[str, Any]) -> Proof:
        methods = identity.get("methods")
        if not isinstance(methods, list) or not 0 < len(methods) <= _METHOD_LIMIT:
            raise BadRequestError("The object 'identity' must have a list 'methods'.")
        proofs = [self._prove_by(method, identity.get(method)) for method in methods]
        if len({proof.user_id for proof in proofs}) > 1:
            raise UnauthorizedError("The authentication methods speak of different users.")
        return Proof(
            proofs[0].user_id,
            tuple(method for proof in proofs for method in proof.methods),
            next((proof.parent for proof in proofs if proof.parent), None),
            next((p.application_credential for p in proofs if p.application_credential), None),
        )

    def _prove_by(self, method: Any, content: Any) -> Proof:
        if method not in {"password", "token", "application_credential"}:
            raise UnauthorizedError(f"The authentication method '{method}' is not supported.")
        if not isinstance(content, dict):
            raise BadRequestError(f"The object 'identity' must have an object '{method}'.")
        if method == "password":
            return self._by_password(content)
        return self._by_token(content) if method == "token" else self._by_credential(content)

    def _by_password(self, content: dict[str, Any]) -> Proof:
        reference = content.get("user")
        if not isinstance(reference, dict) or not isinstance(reference.get("password"), str):
            raise BadRequestError(
                "The object 'password' must have an object 'user' with a password."
            )
        user = self._claimed_user(reference)
        password = reference["password"]
        self._attempts.begin(user["id"], password)
        if not verify(password, user.get("password_hash")):
            self._attempts.wrong(user["id"])
            raise _refused()
        self._attempts.right(user["id"], password)
        return Proof(user["id"], ("password",))

    def _by_token(self, content: dict[str, Any]) -> Proof:
        text = content.get("id")
        if not isinstance(text, str):
            raise BadRequestError("The object 'token' must have an id.")
        token = self._tokens.open(text)
        access = self._control.access(token)
        if token.trust_id is not None:
            raise ForbiddenError("A token of a trust cannot be exchanged for another one.")
        return Proof(token.user_id, (*token.methods, "token"), token, access.application_credential)

    def _by_credential(self, content: dict[str, Any]) -> Proof:
        secret = content.get("secret")
        if not isinstance(secret, str):
            raise BadRequestError("The object 'application_credential' must have a secret.")
        credential = self._claimed_credential(content)
        expired = is_past(credential["expires_at"], self._directory.clock.now())
        if expired or not verify(secret, credential["secret_hash"]):
            raise _refused()
        return Proof(
            credential["user_id"], ("application_credential",), application_credential=credential
        )

    def _claimed_credential(self, content: dict[str, Any]) -> Document:
        credentials = self._directory.application_credentials
        if isinstance(content.get("id"), str):
            found = credentials.get(content["id"])
        elif isinstance(content.get("name"), str):
            user = self._claimed_user(content.get("user"))
            found = next(credentials.find(user_id=user["id"], name=content["name"]), None)
        else:
            raise BadRequestError("An application credential needs an id, or a name and a user.")
        if found is None:
            raise _refused()
        return found

    def _claimed_user(self, reference: Any) -> Document:
        try:
            user = self._directory.find_user(reference)
        except NotFoundError as error:
            raise _refused() from error
        try:
            return self._control.active_user(user["id"])
        except UnauthorizedError as error:
            raise _refused() from error


def _refused() -> ApiError:
    return UnauthorizedError("The request you have made requires authentication.")
