"""Metadata of users on a secret, as keys and values."""

import re

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.key_manager.api import access
from localcloud.key_manager.model import schemas
from localcloud.key_manager.model.state import State
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError, context, route

_KEY = re.compile(r"[A-Za-z0-9_-]*")


class Metadata:
    """The requests on the metadata of secrets."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        path = "/v1/secrets/{id}/metadata"
        return [
            route("GET", path, self._list),
            route("PUT", path, self._set),
            route("POST", path, self._add),
            route("GET", f"{path}/{{key}}", self._show),
            route("PUT", f"{path}/{{key}}", self._change),
            route("DELETE", f"{path}/{{key}}", self._delete),
        ]

    async def _list(self, request: Request) -> Document:
        secret = self._secret(request, "Secret metadata retrieval")
        return {"metadata": secret["metadata"]}

    async def _set(self, request: Request) -> Response:
        content = await schemas.read(request, schemas.METADATA, "SecretMetadata")
        secret = self._secret(request, "Secret metadata creation")
        metadata: dict[str, str] = {}
        for key, value in content["metadata"].items():
            _check_key(key)
            if not isinstance(value, str):
                raise BadRequestError("Invalid Metadata. Keys and Values must be Strings.")
            metadata[key.lower()] = value
        self._put(secret, metadata)
        ref = f"{self._state.ref('secrets', secret['id'])}/metadata"
        return JSONResponse({"metadata_ref": ref}, 201)

    async def _add(self, request: Request) -> Response:
        key, value = await self._pair(request)
        secret = self._secret(request, "Secret metadatum creation")
        if key in secret["metadata"]:
            raise ConflictError("Conflict. Key in request is already in the secret metadata")
        self._put(secret, {**secret["metadata"], key: value})
        where = f"{self._state.ref('secrets', secret['id'])}/metadata/{key}"
        return JSONResponse({"key": key, "value": value}, 201, {"Location": where})

    async def _show(self, request: Request) -> Document:
        secret = self._secret(request, "Secret metadatum retrieval")
        key = self._known(secret, request)
        return {"key": key, "value": secret["metadata"][key]}

    async def _change(self, request: Request) -> Document:
        key, value = await self._pair(request)
        secret = self._secret(request, "Secret metadatum update")
        if self._known(secret, request) != key:
            raise ConflictError("Key in request data does not match key in the request url.")
        self._put(secret, {**secret["metadata"], key: value})
        return {"key": key, "value": value}

    async def _delete(self, request: Request) -> None:
        secret = self._secret(request, "Secret metadatum removal")
        key = self._known(secret, request)
        self._put(secret, {k: v for k, v in secret["metadata"].items() if k != key})

    def _secret(self, request: Request, operation: str) -> Document:
        secret = self._state.secret(request.path_params["id"])
        access.require(access.may_use(context(request), secret), operation)
        return secret

    def _known(self, secret: Document, request: Request) -> str:
        key = str(request.path_params["key"])
        if key not in secret["metadata"]:
            raise NotFoundError("Secret metadata not found.")
        return key

    async def _pair(self, request: Request) -> tuple[str, str]:
        content = await schemas.read(request, schemas.METADATUM, "SecretMetadatum")
        _check_key(content["key"])
        return content["key"].lower(), content["value"]

    def _put(self, secret: Document, metadata: dict[str, str]) -> None:
        changed = {**secret, "metadata": metadata, "updated": self._state.now()}
        self._state.secrets.put(changed)


def _check_key(key: str) -> None:
    if not _KEY.fullmatch(key):
        raise BadRequestError("Invalid Key. Key must be URL safe.")
