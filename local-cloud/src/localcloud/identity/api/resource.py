"""The requests that all kinds of objects share: list, show, create, change and delete."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Collection, Document
from localcloud.identity.model.directory import Directory, missing, new_id
from localcloud.identity.model.fields import Field, checked
from localcloud.identity.model.policy import reads_all, refuse, require
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    PageQuery,
    RequestContext,
    boolean,
    context,
    page,
    read_object,
    route,
)


class Kind(Struct, frozen=True):
    """The form of a kind of object in the API."""

    singular: str
    plural: str
    fields: tuple[Field, ...]
    filters: tuple[str, ...] = ()  # members that can filter lists
    # Lists with any other filter are refused; otherwise the filter is ignored.
    refuses_others: bool = False
    hidden: frozenset[str] = frozenset()  # members that are never shown
    # Names are unique, within a domain if objects belong to one.
    unique_names: bool = False


class Rules(Struct, frozen=True):
    """Access rules for objects of a kind, and the effects of changes.

    Without a rule, only administrators may see or change an object.
    """

    # Creates the document of a new object from a checked body.
    complete: Callable[[RequestContext, Document], Document]
    lists: Callable[[RequestContext], bool] = reads_all
    reads: Callable[[RequestContext, Document], bool] = lambda who, _: reads_all(who)
    writes: Callable[[RequestContext, Document], bool] = lambda who, _: who.is_admin
    # Creates the changed document from the old one and the checked changes.
    change: Callable[[RequestContext, Document, Document], Document] = lambda who, old, changes: {
        **old,
        **changes,
    }
    # Deletes the object and its dependents, if it has any.
    remove: Callable[[Document], None] | None = None
    present: Callable[[Document], Document] = lambda document: document
    # Finds an object by its ID, if that takes more than a look-up in the collection.
    find: Callable[[str], Document | None] | None = None
    # All objects that a list chooses from, if that is not the whole collection.
    candidates: Callable[[RequestContext, QueryParams], Iterable[Document]] | None = None


class Resource:
    """The five requests for one kind of object."""

    def __init__(
        self, directory: Directory, collection: Collection, kind: Kind, rules: Rules
    ) -> None:
        self._directory = directory
        self._collection = collection
        self._kind = kind
        self._rules = rules

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the five requests."""
        many, one = f"/v3/{self._kind.plural}", f"/v3/{self._kind.plural}/{{id}}"
        return [
            route("GET", many, self.list),
            route("POST", many, self.create, 201),
            route("GET", one, self.show),
            route("PATCH", one, self.update),
            route("DELETE", one, self.delete),
        ]

    async def list(self, request: Request) -> Document:
        """Return the objects that the caller may see and that pass the filters."""
        who = context(request)
        action = f"list_{self._kind.plural}"
        require(self._rules.lists(who), action)
        query = request.query_params
        unknown = [name for name in query if name not in self._kind.filters]
        if unknown and self._kind.refuses_others:
            raise BadRequestError(
                f"Additional properties are not allowed ('{unknown[0]}' was unexpected)"
            )
        choose = self._rules.candidates
        documents = self._collection.values() if choose is None else choose(who, query)
        chosen = [
            document
            for document in documents
            if self._rules.reads(who, document) and passes(document, query, self._kind.filters)
        ]
        return self.collection(chosen, request)

    async def show(self, request: Request) -> Document:
        """Return one object."""
        document = self.get(request, "get", self._rules.reads)
        return {self._kind.singular: self.presented(document)}

    async def create(self, request: Request) -> Document:
        """Create an object and return it."""
        who = context(request)
        body = checked(await read_object(request, self._kind.singular), self._kind.fields)
        self._refuse_links(body)
        chosen = body.get("id") if any(f.name == "id" for f in self._kind.fields) else None
        document = self._rules.complete(who, {**body, "id": chosen or new_id()})
        self._require_free_name(document)
        require(self._rules.writes(who, document), f"create_{self._kind.singular}")
        self._collection.put(document)
        return {self._kind.singular: self.presented(document)}

    async def update(self, request: Request) -> Document:
        """Change an object and return it."""
        body = await read_object(request, self._kind.singular)
        document = self.get(request, "update", self._rules.writes)
        changes = checked(body, self._kind.fields, document)
        self._refuse_links(changes)
        if changes.get("id", document["id"]) != document["id"]:
            raise BadRequestError("'id' cannot be changed.")
        changed = self._rules.change(context(request), document, changes)
        self._require_free_name(changed)
        self._collection.put(changed)
        return {self._kind.singular: self.presented(changed)}

    async def delete(self, request: Request) -> None:
        """Delete an object and its dependents."""
        document = self.get(request, "delete", self._rules.writes)
        if self._rules.remove is None:
            self._collection.delete(document["id"])
            return
        with self._directory.store.transaction():
            self._rules.remove(document)

    def get(
        self, request: Request, verb: str, allowed: Callable[[RequestContext, Document], bool]
    ) -> Document:
        """Return the object in the path, if the caller is allowed the action on it."""
        who = context(request)
        action = f"{verb}_{self._kind.singular}"
        key = request.path_params["id"]
        document = (self._rules.find or self._collection.get)(key)
        if document is None:
            raise missing(self._kind.singular, key) if self._rules.lists(who) else refuse(action)
        require(allowed(who, document), action)
        return document

    def presented(self, document: Document) -> dict[str, Any]:
        """Return the object in the form of responses."""
        return shown(self._directory, self._kind, self._rules.present(document))

    def collection(self, documents: Iterable[Document], request: Request) -> dict[str, Any]:
        """Return the response of a list of objects."""
        return listing(
            self._directory,
            self._kind.plural,
            [self.presented(document) for document in documents],
            request,
        )

    def _require_free_name(self, document: Document) -> None:
        if not self._kind.unique_names:
            return
        name, domain_id = document["name"], document.get("domain_id")
        for other in self._collection.find(name=name, domain_id=domain_id):
            if other["id"] != document["id"]:
                where = " in this domain" if domain_id else ""
                raise ConflictError(
                    f"There is already a {self._kind.singular} named '{name}'{where}."
                )

    def _refuse_links(self, body: Document) -> None:
        for name in self._kind.hidden & body.keys():
            raise BadRequestError(f"'{name}' cannot be set.")
        body.pop("links", None)


def shown(directory: Directory, kind: Kind, document: Document) -> dict[str, Any]:
    """Return a document with its link and without hidden members."""
    visible = {name: value for name, value in document.items() if name not in kind.hidden}
    return {**visible, "links": {"self": directory.url(f"{kind.plural}/{document['id']}")}}


def listing(
    directory: Directory, plural: str, items: Iterable[dict[str, Any]], request: Request
) -> dict[str, Any]:
    """Return the body of a list: a page of the items, and links to it and the next page."""
    chosen = page(items, PageQuery.parse(request.query_params))
    self_url = directory.url(request.url.path.removeprefix("/v3/"))
    following = None
    if chosen.more:
        query = request.url.include_query_params(marker=chosen.items[-1]["id"]).query
        following = f"{self_url}?{query}"
    return {plural: chosen.items, "links": {"self": self_url, "next": following, "previous": None}}


def listed(
    directory: Directory, kind: Kind, documents: Iterable[Document], request: Request
) -> dict[str, Any]:
    """Return the body of a list of documents of a kind."""
    items = [shown(directory, kind, document) for document in documents]
    return listing(directory, kind.plural, items, request)


def passes(document: Document, query: QueryParams, filters: Iterable[str]) -> bool:
    """Return whether the document passes the filters of the query, including inexact ones."""
    for name in filters:
        value = document.get(name)
        if name in query and not _equal(value, query[name]):
            return False
        if not isinstance(value, str):
            continue
        for comparator, test in _COMPARATORS.items():
            expected = query.get(f"{name}__{comparator}")
            if expected is not None and not test(value, expected):
                return False
    return True


def _equal(value: Any, expected: str) -> bool:
    if isinstance(value, bool):
        return value == boolean(expected)
    return (value or "") == expected


_COMPARATORS: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda value, expected: expected in value,
    "icontains": lambda value, expected: expected.lower() in value.lower(),
    "startswith": lambda value, expected: value.startswith(expected),
    "istartswith": lambda value, expected: value.lower().startswith(expected.lower()),
    "endswith": lambda value, expected: value.endswith(expected),
    "iendswith": lambda value, expected: value.lower().endswith(expected.lower()),
    "iexact": lambda value, expected: value.lower() == expected.lower(),
}
