"""The requests on secrets and their payloads."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.key_manager.api import access, quotas
from localcloud.key_manager.api.filters import chosen
from localcloud.key_manager.api.listing import paged
from localcloud.key_manager.errors import KeyManagerError
from localcloud.key_manager.model.new_secret import checked, described
from localcloud.key_manager.model.payloads import (
    BINARY,
    TEXT,
    PayloadCipher,
    as_asked,
    check_size,
    decoded,
    normalized,
)
from localcloud.key_manager.model.schemas import SECRET, read
from localcloud.key_manager.model.state import State
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    NotFoundError,
    UnsupportedMediaTypeError,
    boolean,
    context,
    read_body,
    route,
)
from localcloud.web.microversions import KEY_MANAGER

_REQUEST_BYTES = 25_000
_KINDS = [BINARY, TEXT]


class Secrets:
    """The requests on secrets."""

    def __init__(self, state: State, seal: PayloadCipher) -> None:
        self._state = state
        self._seal = seal

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v1/secrets/{id}"
        return [
            route("GET", "/v1/secrets", self._list),
            route("POST", "/v1/secrets", self._create),
            route("GET", one, self._show),
            route("PUT", one, self._fill),
            route("DELETE", one, self._delete),
            route("GET", f"{one}/payload", self._payload),
        ]

    async def _list(self, request: Request) -> Document:
        who = context(request)
        project = access.is_member(who, "Secret(s) retrieval")
        if request.query_params.get("acl_only", "").lower() == "true":
            all_secrets = self._state.secrets.values()
            mine = [
                s for s in all_secrets if who.user_id in s["acl"].get("read", {}).get("users", ())
            ]
        else:
            mine = list(self._state.secrets.find(project_id=project))
        found = chosen([s for s in mine if not self._state.has_expired(s)], request.query_params)
        where = self._state.ref("secrets", "").rstrip("/")
        return paged(request, found, lambda s: self._shown(request, s), "secrets", where)

    async def _create(self, request: Request) -> Response:
        who = context(request)
        access.is_member(who, "Secret creation")
        said = checked(self._state, await read(request, SECRET, "Secret"))
        quotas.check(self._state, who.require_project(), "secrets", "Secret creation")
        secret = self._state.new(who, **described(said))
        if "payload" in said:
            data = decoded(said["payload"], said.get("payload_content_encoding"))
            self._keep(secret, data, normalized(said["payload_content_type"]))
        else:
            self._state.secrets.put(secret)
        ref = self._state.ref("secrets", secret["id"])
        return JSONResponse({"secret_ref": ref}, 201, {"Location": ref})

    async def _show(self, request: Request) -> Response | Document:
        accepted = request.headers.get("accept", "*/*")
        if accepted not in ("application/json", "*/*"):
            return await self._payload(request)
        secret = self._state.secret(request.path_params["id"])
        access.require(access.may_see(context(request), secret), "Secret retrieval")
        return self._shown(request, secret)

    async def _payload(self, request: Request) -> Response:
        secret = self._state.secret(request.path_params["id"])
        allowed = access.may_read(context(request), secret)
        access.require(allowed, "Secret payload retrieval")
        if secret["payload"] is None:
            raise NotFoundError("Not Found. Sorry but your secret has no payload.")
        accepted = request.headers.get("accept", BINARY)
        data, kind = as_asked(self._seal.opened(secret), secret["content_type"], accepted)
        return Response(data, media_type=kind)

    async def _fill(self, request: Request) -> None:
        kind = request.headers.get("content-type", "")
        if kind.partition(";")[0].strip() not in _KINDS:
            raise UnsupportedMediaTypeError(
                f"Unexpected content type. Expected content types are: {_KINDS}"
            )
        payload = await read_body(request, _REQUEST_BYTES)
        if not payload:
            raise KeyManagerError(400, "Secret update", "No data supplied to process.")
        check_size(payload)
        known = normalized(kind)
        if known is None:
            reason = f"A Content-Type of '{kind}' for secrets is not supported"
            raise KeyManagerError(400, "Secret update", reason)
        encoding = request.headers.get("content-encoding")
        if known == TEXT:
            encoding = None
        elif encoding not in (None, "base64"):
            reason = "Text-based binary secret payloads must specify a content-encoding of 'base64'"
            raise KeyManagerError(400, "Secret update", reason)
        data = decoded(payload, encoding)
        secret = self._state.secret(request.path_params["id"])
        access.require(access.may_use(context(request), secret), "Secret update")
        if secret["payload"] is not None:
            raise ConflictError("Secret already has data, cannot modify it.")
        self._keep({**secret, "updated": self._state.now()}, data, known)

    async def _delete(self, request: Request) -> None:
        secret = self._state.secret(request.path_params["id"])
        access.require(access.may_delete(context(request), secret), "Secret deletion")
        try:
            forced = boolean(request.query_params.get("force", "false"))
        except BadRequestError as error:
            raise BadRequestError("URI provided invalid query string parameters.") from error
        if KEY_MANAGER.negotiate(request.headers).since(2) and secret["consumers"] and not forced:
            raise KeyManagerError(
                400, "Secret deletion", "Secret cannot be deleted as it has consumers."
            )
        state = self._state
        with state.cloud.store.transaction():
            state.secrets.delete(secret["id"])
            for container in list(state.containers.find(project_id=secret["project_id"])):
                remaining = [r for r in container["secrets"] if r["secret_id"] != secret["id"]]
                if len(remaining) < len(container["secrets"]):
                    state.containers.put({**container, "secrets": remaining})

    def _keep(self, secret: Document, data: bytes, kind: str | None) -> None:
        payload = self._seal.sealed(secret["project_id"], data)
        self._state.secrets.put({**secret, "payload": payload, "content_type": kind})

    def _shown(self, request: Request, secret: Document) -> Document:
        shown = secret_view(self._state, secret)
        if not KEY_MANAGER.negotiate(request.headers).since(1):
            del shown["consumers"]
        return shown


def secret_view(state: State, secret: Document) -> Document:
    """Return a secret as the API shows it."""
    names = (
        "created", "updated", "status", "name", "secret_type", "expiration", "algorithm",
        "bit_length", "mode", "creator_id",
    )  # fmt: skip
    shown = {name: secret[name] for name in names}
    shown["consumers"] = [
        {k: c[k] for k in ("service", "resource_type", "resource_id")} for c in secret["consumers"]
    ]
    if secret["content_type"] is not None:
        shown["content_types"] = {"default": secret["content_type"]}
    return {**shown, "secret_ref": state.ref("secrets", secret["id"])}
