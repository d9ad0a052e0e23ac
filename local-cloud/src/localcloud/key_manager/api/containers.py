"""The requests on containers: secrets that belong together."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.key_manager.api import access, quotas
from localcloud.key_manager.api.listing import paged
from localcloud.key_manager.model import schemas
from localcloud.key_manager.model.schemas import CONTAINER, CONTAINER_SECRET, SchemaError
from localcloud.key_manager.model.state import State
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    NotFoundError,
    RequestContext,
    context,
    route,
)

_REQUIRED = {"rsa": {"public_key", "private_key"}, "certificate": {"certificate"}}
_OPTIONAL = {
    "rsa": {"private_key_passphrase"},
    "certificate": {"private_key", "private_key_passphrase", "intermediates"},
}
_ONLY = {
    "rsa": "only 'private_key', 'public_key' and 'private_key_passphrase' reference names are "
    "allowed for RSA type",
    "certificate": "only 'private_key', 'certificate' , 'private_key_passphrase',  or "
    "'intermediates' reference names are allowed for Certificate type",
}
_LEAST = {
    "rsa": "The minimum required reference names are 'public_key' and'private_key' for RSA type",
    "certificate": "The minimum required reference name is 'certificate' for Certificate type",
}


class Containers:
    """The requests on containers."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v1/containers/{id}"
        return [
            route("GET", "/v1/containers", self._list),
            route("POST", "/v1/containers", self._create),
            route("GET", one, self._show),
            route("DELETE", one, self._delete),
            route("POST", f"{one}/secrets", self._add),
            route("DELETE", f"{one}/secrets", self._remove),
        ]

    async def _list(self, request: Request) -> Document:
        project = access.is_member(context(request), "Containers(s) retrieval")
        query = request.query_params
        filters = {k: query[k] for k in ("name", "type") if query.get(k)}
        found = list(self._state.containers.find(project_id=project, **filters))
        where = self._state.ref("containers", "").rstrip("/")
        return paged(request, found, self._shown, "containers", where)

    async def _create(self, request: Request) -> Response:
        who = context(request)
        project = access.is_member(who, "Container creation")
        content = await schemas.read(request, CONTAINER, "Container")
        given = content.get("secret_refs") or []
        refs = [{"name": r.get("name"), "secret_id": self._id(r["secret_ref"])} for r in given]
        _check_names(content["type"], refs)
        quotas.check(self._state, project, "containers", "Container creation")
        for ref in refs:
            if not self._is_secret(who, ref["secret_id"]):
                raise NotFoundError(f"Secret provided for '{ref['name']}' doesn't exist.")
        fields = {"name": content.get("name"), "type": content["type"], "secrets": refs}
        container = self._state.new(who, **fields, consumers=[], acl={})
        self._state.containers.put(container)
        return self._made(container)

    async def _show(self, request: Request) -> Document:
        container = self._state.container(request.path_params["id"])
        access.require(access.may_see(context(request), container), "Container retrieval")
        return self._shown(container)

    async def _delete(self, request: Request) -> None:
        container = self._state.container(request.path_params["id"])
        access.require(access.may_delete(context(request), container), "Container deletion")
        self._state.containers.delete(container["id"])

    async def _add(self, request: Request) -> Response:
        ref, who = await self._ref(request), context(request)
        container = self._state.container(request.path_params["id"])
        access.require(access.may_use(who, container), "Container Secret creation")
        if container["type"] != "generic":
            raise BadRequestError("Only 'generic' containers can be modified.")
        if not self._is_secret(who, ref["secret_id"]):
            raise NotFoundError("Secret provided doesn't exist.")
        if ref in container["secrets"]:
            raise ConflictError(
                "Conflict. A secret with that name and ID is already stored in this container. "
                "The same secret can exist in a container as long as the name is unique."
            )
        self._change(container, [*container["secrets"], ref])
        return self._made(container)

    async def _remove(self, request: Request) -> None:
        ref, who = await self._ref(request), context(request)
        container = self._state.container(request.path_params["id"])
        access.require(access.may_use(who, container), "Container Secret deletion")
        if not self._is_secret(who, ref["secret_id"]):
            href = self._state.ref("secrets", ref["secret_id"])
            raise NotFoundError(f"Secret '{ref['name']}' with reference '{href}' doesn't exist.")
        if ref not in container["secrets"]:
            raise NotFoundError("Secret provided is not in the container")
        self._change(container, [each for each in container["secrets"] if each != ref])

    async def _ref(self, request: Request) -> Document:
        content = await schemas.read(request, CONTAINER_SECRET, "ContainerSecret")
        return {"name": content.get("name"), "secret_id": self._id(content["secret_ref"])}

    def _id(self, ref: str) -> str:
        """Return the id in the address of a secret; raises BadRequestError for one of elsewhere."""
        if not ref.startswith(self._state.cloud.settings.url):
            raise BadRequestError("Provided field value is not supported")
        return ref.rstrip("/").rpartition("/")[2]

    def _is_secret(self, who: RequestContext, secret_id: str) -> bool:
        found = self._state.secrets.get(secret_id)
        own = found is not None and found["project_id"] == who.project_id
        return own and found is not None and not self._state.has_expired(found)

    def _change(self, container: Document, refs: list[Document]) -> None:
        changed = {**container, "secrets": refs, "updated": self._state.now()}
        self._state.containers.put(changed)

    def _made(self, container: Document) -> Response:
        ref = self._state.ref("containers", container["id"])
        return JSONResponse({"container_ref": ref}, 201, {"Location": ref})

    def _shown(self, container: Document) -> Document:
        return container_view(self._state, container)


def container_view(state: State, container: Document) -> Document:
    """Return a container as the API shows it."""
    names = ("created", "updated", "status", "name", "type", "creator_id")
    refs = [
        {"name": ref["name"], "secret_ref": state.ref("secrets", ref["secret_id"])}
        for ref in container["secrets"]
    ]
    return {
        **{name: container[name] for name in names},
        "secret_refs": refs,
        "consumers": [{"name": c["name"], "URL": c["URL"]} for c in container["consumers"]],
        "container_ref": state.ref("containers", container["id"]),
    }


def _check_names(kind: str, refs: list[Document]) -> None:
    """Raise :class:`SchemaError` where a container of a kind cannot have these secrets."""
    if not refs:
        return
    names = {ref["name"] for ref in refs}
    if len(names) < len(refs):
        raise _invalid("Duplicate reference names are not allowed")
    if len({ref["secret_id"] for ref in refs}) < len(refs):
        raise _invalid("Duplicate secret ids are not allowed")
    if kind == "generic":
        return
    if names - _REQUIRED[kind] - _OPTIONAL[kind]:
        raise _invalid(_ONLY[kind])
    if _REQUIRED[kind] - names:
        raise _invalid(_LEAST[kind])


def _invalid(reason: str) -> SchemaError:
    return SchemaError("Container", reason, "secret_refs")
