"""Services in memory that keep and refuse objects as their API references say.

A :class:`Kind` is one collection: the fields that a create must and may have, those of an update,
those that the service adds, and the states that an object passes in the background. Each request to
a service advances every object by one step.
"""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.clouds.fake_cloud import FakeResponse, RefusalError

Object = dict[str, Any]
# Called with the service, the match of the path, and the body; answers with a body.
Handler = Callable[["Service", Any, Any], Any]


@dataclass(frozen=True)
class States:
    """The status of an object while the service works on it."""

    creating: str
    ready: str
    updating: str = ""
    deleting: str = ""
    field: str = "status"
    steps: int = 2


@dataclass(frozen=True)
class Kind:
    """A collection. ``create`` and ``update`` are names of fields; ``!`` marks required ones."""

    path: str  # with ``{}`` for the id of the object that a collection belongs to
    key: str
    plural: str
    create: str
    update: str = ""
    method: str = "PUT"
    id_field: str = "id"
    bare: bool = False
    # Fields that the service adds to a new object.
    made: Callable[[Object], Object] = lambda body: {}
    states: States | None = None
    unique: tuple[str, ...] = ()  # fields in which no two objects may be equal
    named_ids: bool = False  # whether the id is that of the body
    # Converts an object to its form in an answer.
    told: Callable[[Object], Object] = lambda item: item

    @property
    def required(self) -> set[str]:
        return {name[:-1] for name in self.create.split() if name.endswith("!")}

    @property
    def allowed(self) -> set[str]:
        return {name.rstrip("!") for name in self.create.split()}

    @property
    def mutable(self) -> set[str]:
        return set(self.update.split())


@dataclass
class Service:
    """One service."""

    kinds: tuple[Kind, ...]
    # Method, pattern of the path, and handler: requests beside the collections.
    actions: tuple[tuple[str, str, Handler], ...] = ()
    # Text of the refusal of changes while any object is in transition, if they are refused.
    exclusive: str = ""
    tables: dict[str, dict[str, Object]] = field(default_factory=dict)
    under_way: dict[str, tuple[Kind, Object, int, str]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    def request(self, path: str, method: str, **arguments: Any) -> FakeResponse:
        """Answers as a keystoneauth adapter does."""
        self.calls.append((method, path))
        self._step()
        path, _, query = path.partition("?")
        params = dict(part.split("=", 1) for part in query.split("&") if part)
        params |= arguments.get("params") or {}
        try:
            given = arguments.get("json", arguments.get("data"))
            body = self._answer(method, unquote(path), given, params)
        except RefusalError as refusal:
            return FakeResponse(refusal.status, {"faultstring": refusal.message})
        if isinstance(body, FakeResponse):
            return body
        return FakeResponse(204 if body is None else 200, body)

    def get_endpoint(self) -> str:
        return "http://service.example/v2"

    def objects(self, path: str) -> dict[str, Object]:
        """The objects below a path, by the last part of their addresses."""
        return self.tables.setdefault(path, {})

    def _step(self) -> None:
        for key, (kind, item, steps, final) in list(self.under_way.items()):
            if steps > 0:
                self.under_way[key] = (kind, item, steps - 1, final)
                continue
            del self.under_way[key]
            if final:
                assert kind.states is not None
                item[kind.states.field] = final
            else:
                self._forget(item)

    def _forget(self, item: Object) -> None:
        for table in self.tables.values():
            for key in [key for key, other in table.items() if other is item]:
                del table[key]

    def _begin(self, kind: Kind, item: Object, state: str, final: str) -> None:
        assert kind.states is not None
        if state:
            item[kind.states.field] = state
        self.under_way[str(id(item))] = (kind, item, kind.states.steps, final)

    def _answer(self, method: str, path: str, body: Any, params: Mapping[str, Any]) -> Any:
        for verb, pattern, handler in self.actions:
            match = re.fullmatch(pattern, path)
            if match and verb == method:
                return handler(self, match, body)
        if self.exclusive and self.under_way and method != "GET":
            raise RefusalError(409, self.exclusive)
        for kind in self.kinds:
            pattern = kind.path.replace("{}", "([^/]+)")
            if re.fullmatch(pattern, path):
                return self._collection(kind, method, path, body, params)
            match = re.fullmatch(f"({pattern})/([^/]+)", path)
            if match:
                return self._object(kind, method, match[1], match.groups()[-1], body)
        raise RefusalError(404, f"there is no {path}")

    def _collection(
        self, kind: Kind, method: str, path: str, body: Any, params: Mapping[str, Any]
    ) -> Any:
        table = self.objects(path)
        if method == "GET":
            found = [kind.told(item) for item in table.values()]
            for name, value in params.items():
                found = [item for item in found if name not in item or item[name] == value]
            return {kind.plural: found}
        if method != "POST":
            raise RefusalError(405, f"{method} is not allowed")
        given = body if kind.bare else body.get(kind.key)
        if not isinstance(given, dict):
            raise RefusalError(400, f"the body has no {kind.key}")
        if missing := kind.required - given.keys():
            raise RefusalError(400, f"{missing} must be given")
        if unknown := given.keys() - kind.allowed:
            raise RefusalError(400, f"{unknown} cannot be given")
        like = {name: given.get(name) for name in kind.unique}
        if like and any(like == {name: item.get(name) for name in like} for item in table.values()):
            raise RefusalError(409, f"one with {like} already exists")
        return self._wrapped(kind, self._make(kind, path, table, given))

    def _make(self, kind: Kind, path: str, table: dict[str, Object], given: Object) -> Object:
        key = str(uuid.uuid4())
        own_id = f"http://service.example/v1{path}/{key}" if kind.id_field.endswith("_ref") else key
        if kind.named_ids:
            key = own_id = str(given.get(kind.id_field) or key)
        absent: Object = dict.fromkeys(kind.allowed)
        item = {**absent, **given, kind.id_field: own_id, **kind.made(given)}
        table[key] = item
        if kind.states is not None:
            self._begin(kind, item, kind.states.creating, kind.states.ready)
        return item

    def _wrapped(self, kind: Kind, item: Object) -> Object:
        told = kind.told(item)
        return dict(told) if kind.bare else {kind.key: told}

    def _object(self, kind: Kind, method: str, path: str, key: str, body: Any) -> Any:
        table = self.objects(path)
        if key not in table:
            raise RefusalError(404, f"{kind.key} {key} could not be found")
        item = table[key]
        if method == "GET":
            return self._wrapped(kind, item)
        if method == "DELETE":
            if kind.states is not None and kind.states.deleting:
                self._begin(kind, item, kind.states.deleting, "")
            else:
                del table[key]
            return None
        if method != kind.method or not kind.update:
            raise RefusalError(405, f"{method} is not allowed")
        given = body if kind.bare else body.get(kind.key)
        if isinstance(given, dict) and (fixed := given.keys() - kind.mutable):
            raise RefusalError(400, f"{fixed} cannot be changed")
        self._change(item, given)
        if kind.states is not None and kind.states.updating:
            self._begin(kind, item, kind.states.updating, kind.states.ready)
        return self._wrapped(kind, item)

    def _change(self, item: Object, given: Any) -> None:
        if isinstance(given, dict):
            item.update(given)
            return
        for change in given:
            *_, name = change["path"].split("/")
            inner = item if change["path"].count("/") == 1 else item[change["path"].split("/")[1]]
            if change["op"] == "remove":
                inner.pop(name, None)
            else:
                inner[name] = change["value"]


class FakeConnection:
    """A connection whose services are in memory; other services are requested elsewhere."""

    def __init__(self, services: Mapping[str, Service], beside: Any = None) -> None:
        self._services = services
        self._beside = beside
        self.project_id = "project"

    def service(self, service_type: str) -> Any:
        found = self._services.get(service_type)
        return self._beside.service(service_type) if found is None else found

    def offers(self, service_type: str) -> bool:
        return service_type in self._services or self._beside.offers(service_type)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._beside, name)

    def __hash__(self) -> int:
        return id(self)
