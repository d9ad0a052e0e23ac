"""The form of tokens in responses."""

from typing import Any

from starlette.responses import JSONResponse, Response

from localcloud.core.store import Document
from localcloud.identity.model.catalog import catalog
from localcloud.identity.model.directory import Directory
from localcloud.identity.tokens.access import Access
from localcloud.identity.tokens.authentication import Issued


def token_answer(
    directory: Directory, issued: Issued, status: int = 200, *, with_catalog: bool = True
) -> Response:
    """Return the response with the content of a token, and its text in a header."""
    body = {"token": _token_body(directory, issued.access, with_catalog)}
    headers = {"X-Subject-Token": issued.text, "Vary": "X-Auth-Token"}
    return JSONResponse(body, status, headers)


def _token_body(directory: Directory, access: Access, with_catalog: bool) -> dict[str, Any]:
    token = access.token
    body: dict[str, Any] = {
        "methods": list(token.methods),
        "user": {
            **_reference(access.user),
            "domain": _reference(access.user_domain),
            "password_expires_at": None,
        },
        "audit_ids": list(token.audit_ids),
        "issued_at": token.issued_at,
        "expires_at": token.expires_at,
    }
    if token.scope.kind != "none":
        body["roles"] = [_reference(role) for role in access.roles]
        if with_catalog:
            project_id = access.project["id"] if access.project else None
            body["catalog"] = catalog(directory, access.user["id"], project_id)
    return body | _scope(access) | _delegation(access)


def _scope(access: Access) -> dict[str, Any]:
    if access.project is not None and access.project_domain is not None:
        domain = _reference(access.project_domain)
        return {"project": {**_reference(access.project), "domain": domain}, "is_domain": False}
    if access.domain is not None:
        return {"domain": _reference(access.domain)}
    return {"system": {"all": True}} if access.token.scope.kind == "system" else {}


def _delegation(access: Access) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if access.trust is not None:
        found["OS-TRUST:trust"] = {
            "id": access.trust["id"],
            "impersonation": access.trust["impersonation"],
            "trustor_user": {"id": access.trust["trustor_user_id"]},
            "trustee_user": {"id": access.trust["trustee_user_id"]},
        }
    credential = access.application_credential
    if credential is not None:
        found["application_credential"] = {
            **_reference(credential),
            "restricted": not credential["unrestricted"],
        }
    return found


def _reference(document: Document) -> dict[str, Any]:
    return {"id": document["id"], "name": document["name"]}
