"""Create, show, list, update and delete, the same way for all kinds of objects."""

import re
from collections.abc import Iterator

from starlette.datastructures import QueryParams

from localcloud.core.store import Document
from localcloud.network.api.listing import answer, filters, select
from localcloud.network.errors import denied, malformed
from localcloud.network.model.attributes import for_create, for_update
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, is_shared, require_owner, sees
from localcloud.network.objects import security_groups
from localcloud.network.objects.operations import Operations
from localcloud.web.http import ApiError, RequestContext, fields

_INDEXED = (
    "id", "port_id", "device_id", "security_group_id", "floating_ip_address", "router_id",
    "network_id", "floating_network_id", "project_id",
)  # fmt: skip
_REVISION = re.compile(r"revision_number=(\d+)")
_BULK_LIMIT = 1000


class Crud:
    """The requests on objects of one kind, with bodies and answers of the API."""

    def __init__(self, state: State, operations: Operations) -> None:
        self.operations = operations
        self.resource = operations.resource
        self._kind = operations.resource.kind
        self._state = state

    def shown(self, context: RequestContext, document: Document) -> Document:
        """Return the object as the caller sees it."""
        full = {**document, "tenant_id": document["project_id"]}
        if "shared" in self.resource.attributes:
            full["shared"] = is_shared(self._state, self._kind, document, context.project_id)
        if self.operations.view is not None:
            full |= self.operations.view(self._state, context, document)
        return {
            name: full[name]
            for name, attribute in self.resource.attributes.items()
            if name in full and (context.is_admin or not attribute.hidden)
        }

    def create(self, context: RequestContext, body: Document) -> Document:
        """Make the object, or all objects, of a body."""
        if self._kind in body:
            with self._state.change():
                made = self._make(context, body[self._kind])
            return {self._kind: self.shown(context, made)}
        plural = self.resource.collection
        items = body.get(plural)
        if not isinstance(items, list) or not items:
            raise malformed(f"The body must have '{self._kind}' or '{plural}'.")
        if len(items) > _BULK_LIMIT:
            raise malformed(f"One request creates {_BULK_LIMIT} objects at most.")
        with self._state.change():
            all_made = [self._make(context, item) for item in items]
        return {plural: [self.shown(context, made) for made in all_made]}

    def _make(self, context: RequestContext, body: object) -> Document:
        values = for_create(self.resource, context, body)
        if self.operations.create is None:
            return self._state.create(self._kind, values)
        return self.operations.create(self._state, context, values)

    def show(self, context: RequestContext, object_id: str, query: QueryParams) -> Document:
        """Return one object, or the fields of it that the query names."""
        document = self.shown(context, find(self._state, context, self._kind, object_id))
        return {self._kind: fields(document, query.getlist("fields"))}

    def listed(self, context: RequestContext, query: QueryParams, url: str) -> Document:
        """Return the objects that the caller may see and the query matches."""
        if self._kind == security_groups.KIND and context.project_id is not None:
            with self._state.change():
                security_groups.ensure_default(self._state, context.project_id)
        requested = filters(query)
        names = requested.get("name")
        visible = (
            self.shown(context, document)
            for document in self._candidates(requested)
            if (names is None or document.get("name") in names)
            and sees(self._state, context, self._kind, document)
        )
        return answer(self.resource, select(self.resource, visible, query), query, url)

    def _candidates(self, requested: dict[str, list[str]]) -> Iterator[Document]:
        """Yield the documents that can match the filters, with the help of an index if there is
        one.
        """
        collection = self._state.all(self._kind)
        for name in _INDEXED:
            if name in requested and name in self.resource.attributes:
                for value in dict.fromkeys(requested[name]):
                    yield from collection.find(**{name: value or None})
                return
        yield from collection.values()

    def update(
        self, context: RequestContext, object_id: str, body: Document, if_match: str | None = None
    ) -> Document:
        """Change an object as the body says."""
        if self._kind not in body:
            raise malformed(f"The body must have '{self._kind}'.")
        document = find(self._state, context, self._kind, object_id)
        _require_revision(document, if_match)
        with self._state.change():
            changes = for_update(self.resource, context, body[self._kind])
            return self.change(context, document, changes)

    def change(self, context: RequestContext, document: Document, changes: Document) -> Document:
        """Write changes that have been checked."""
        require_owner(context, document, f"update_{self._kind}")
        if self.operations.update is None:
            changed = self._state.update(self._kind, document, changes)
        else:
            changed = self.operations.update(self._state, context, document, changes)
        return {self._kind: self.shown(context, changed)}

    def delete(self, context: RequestContext, object_id: str, if_match: str | None = None) -> None:
        """Remove an object."""
        document = find(self._state, context, self._kind, object_id)
        _require_revision(document, if_match)
        if not self.operations.may_delete(self._state, context, document):
            raise denied(f"delete_{self._kind}")
        with self._state.change():
            if self.operations.delete is None:
                self._state.delete(self._kind, document)
            else:
                self.operations.delete(self._state, context, document)


def _require_revision(document: Document, if_match: str | None) -> None:
    if if_match is None:
        return
    found = _REVISION.fullmatch(if_match.strip().strip('"'))
    if found is None:
        raise malformed("If-Match must be revision_number=N.")
    if int(found.group(1)) != document["revision_number"]:
        raise ApiError(
            f"The revision is {document['revision_number']} by now.",
            status=412,
            type="RevisionNumberConstraintFailed",
        )
