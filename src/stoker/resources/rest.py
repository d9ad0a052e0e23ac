"""Resources that are one object of a REST collection: declarations rather than code.

A type names its collection and maps its properties to fields of the object. What takes a request
of its own (tags, agents) is an :class:`Extra`.

How a lost create is found again: the object is named ``call.physical_name``, which ends with the
intent token. If the user has chosen the name, the object is created with ``stoker:<token>`` in its
marker field, which is ``description`` if the service has one; the user's own value for that field
is set once the id is stored. If the service has no such field, the ids of the objects that already
have the name are stored before the create: the object is the one that is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from stoker.clouds.collection import Collection, Object
from stoker.clouds.faults import CloudFault, describe, is_conflict, is_out_of_sight
from stoker.resources import declare
from stoker.schema.properties import Attribute
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

MARKER = "stoker:"
"""Prefix of a marker; the token follows."""
_BEFORE = "before"
"""Key of the data: ids of the objects that already had the name of this one."""
_UNSENT = frozenset({"name", "value_specs"})


@dataclass(frozen=True, slots=True)
class Extra:
    """A property that is set by a request of its own, once the object exists."""

    property: str
    apply: Callable[[Call], None]
    """Safe to repeat."""
    tell: Callable[[Call], Any] | None = None
    """The value that the object has, where its own fields do not tell."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The states of an object that the service builds in the background."""

    pending: frozenset[str]
    failed: frozenset[str] = frozenset({"ERROR"})
    field: str = "status"
    reason: str = "status_reason"
    """Field in which the service explains a failure."""


class RestResource(ManagedType):
    """An object with create, get, change and delete in a REST collection."""

    attributes: ClassVar[Mapping[str, Attribute]] = {"show": declare.SHOW}
    collection: ClassVar[Collection]
    wire: ClassVar[Mapping[str, str]] = {}
    """Property -> field, where their names differ."""
    blanks: ClassVar[Mapping[str, Any]] = {}
    """The value that clears a property, if the service does not accept null."""
    attribute_fields: ClassVar[Mapping[str, str]] = {}
    """Attribute -> field, where their names differ."""
    extras: ClassVar[tuple[Extra, ...]] = ()
    readiness: ClassVar[Readiness | None] = None
    marker: ClassVar[str] = "description"
    """Field that holds the token if the user has chosen the name; empty for none."""

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """The fields of the object for these properties; absent ones are omitted."""
        apart = _UNSENT | {extra.property for extra in self.extras}
        own = {name: value for name, value in properties.items() if name not in apart}
        return renamed(own, self.wire)

    def create(self, call: Call) -> Outcome:
        """Make the object, then set its extras, then wait until it is usable."""
        if call.physical_id is not None:
            for extra in self._wanted_extras(call):
                extra.apply(call)
            return self.judge(call, self.collection.get(call.cloud, call.physical_id))
        if _is_unmarked(self, call) and _BEFORE not in call.data:
            known = [item[self.collection.id_field] for item in self._named(call)]
            return Wait(after=0.0, data={**call.data, _BEFORE: known})
        try:
            body = self.creation_body(call)
            if _needs_marker(self, call):
                body[self.marker] = marker_text(call)
            version = self.version(call.properties)
            made = self.collection.create(call.cloud, body, microversion=version)
        except CloudFault as fault:
            return refusal(fault)
        physical_id = str(made[self.collection.id_field])
        if self._wanted_extras(call):
            return Wait(after=0.0, physical_id=physical_id)
        return self.judge(call, made)

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """The microversion that a create needs; None for the default of the collection."""
        return None

    def creation_body(self, call: Call) -> Object:
        """The fields of the new object and its name."""
        body = self.fields(call.properties)
        body.update(call.properties.get("value_specs") or {})
        if "name" in self.properties:
            body["name"] = call.properties.get("name") or call.physical_name
        return body

    def update(self, call: Call) -> Outcome:
        """Change the fields and extras that have changed."""
        body = self.changed_fields(call)
        answer = self.collection.update(call.cloud, call.object_id, body) if body else None
        for extra in self.extras:
            if extra.property in call.update.changed:
                extra.apply(call)
        return self.judge(call, answer or self.collection.get(call.cloud, call.object_id))

    def changed_fields(self, call: Call) -> Object:
        """The fields that an update sends; a removed property is cleared."""
        changed = {name: call.properties.get(name) for name in call.update.changed}
        body = self.fields(changed)
        apart = _UNSENT | {extra.property for extra in self.extras}
        for name, value in changed.items():
            if value is None and name not in apart:
                body.setdefault(self.wire.get(name, name), self.blanks.get(name))
        if "value_specs" in call.update.changed:
            body.update(call.properties.get("value_specs") or {})
        if "name" in call.update.changed:
            body["name"] = call.properties.get("name") or call.physical_name
        return body

    def delete(self, call: Call) -> Outcome:
        """Remove the object."""
        if call.physical_id is not None:
            self.collection.delete(call.cloud, call.physical_id)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """All attributes of the live object, and the object itself as ``show``."""
        found = self.collection.get(call.cloud, call.object_id)
        return {**self.attributes_of(call, found), "show": found}

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """The declared attributes that are fields of the object."""
        names = {name: self.attribute_fields.get(name, name) for name in self.attributes}
        return {name: found[field] for name, field in names.items() if field in found}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """The properties of the live object, read from its fields and beside them."""
        version = self.version(call.properties)
        found = self.collection.find(call.cloud, call.object_id, microversion=version)
        return None if found is None else self.properties_of(call, found) | _told(self, call)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """The properties that are fields of the object."""
        names = {name: self.wire.get(name, name) for name in self.properties}
        told = {name: found[field] for name, field in names.items() if field in found}
        specs = call.properties.get("value_specs") or {}
        if specs.keys() <= found.keys():
            told["value_specs"] = {field: found[field] for field in specs}
        return told

    def check(self, call: Call) -> Outcome:
        """Whether the live object is there and usable."""
        found = None
        if call.physical_id is not None:
            found = self.collection.find(call.cloud, call.physical_id)
        if found is None:
            return Failed(f"the {self.collection.key} {call.physical_id} no longer exists")
        return self.judge(call, found)

    def find(self, call: Call) -> str | None:
        """The object that a lost create has created."""
        matches = self._with_token(call)
        if _is_unmarked(self, call) and _BEFORE in call.data:
            known = call.data[_BEFORE]
            named = self._named(call)
            matches = [item for item in named if item[self.collection.id_field] not in known]
        return str(matches[0][self.collection.id_field]) if matches else None

    def sweep(self, call: Call) -> Sequence[str]:
        """Remove objects that carry the token and are not the recorded one."""
        surplus = [str(item[self.collection.id_field]) for item in self._with_token(call)]
        removed = [found for found in surplus if found != call.physical_id]
        for found in removed:
            self.collection.delete(call.cloud, found)
        return removed

    def _with_token(self, call: Call) -> list[Object]:
        """The objects that carry the token, as their name or as their marker."""
        if _bears_token(self, call):
            return self._named(call)
        if not self.marker:
            return []
        listed = self.collection.select(call.cloud, **{self.marker: marker_text(call)})
        return [item for item in listed if item.get(self.marker) == marker_text(call)]

    def _named(self, call: Call) -> list[Object]:
        """The objects that have the name of this one."""
        name = call.properties.get("name") or call.physical_name
        return [item for item in self.listed(call, name) if item.get("name") == name]

    def listed(self, call: Call, name: str) -> list[Object]:
        """Objects, among them those with this name; not every service can filter by name."""
        return self.collection.select(call.cloud, name=name)

    def judge(self, call: Call, found: Object) -> Outcome:
        """The outcome for the object's status: done, still waiting, or failed."""
        physical_id = str(found[self.collection.id_field])
        rule = self.readiness
        status = str(found.get(rule.field, "")) if rule else ""
        if rule and status in rule.failed:
            return went_to(status, str(found.get(rule.reason) or "Unknown"), physical_id)
        if rule and status in rule.pending:
            pause = polling_pause(call)
            return Wait(pause, physical_id, reason=f"{self.collection.key} is {status}")
        return Done(physical_id, self.attributes_of(call, found))

    def _wanted_extras(self, call: Call) -> list[Extra]:
        wanted = [extra for extra in self.extras if call.properties.get(extra.property)]
        if _needs_marker(self, call) and self.creation_body(call).get(self.marker) is not None:
            wanted.append(Extra(self.marker, partial(_unmark, self)))
        return wanted


def _bears_token(kind: RestResource, call: Call) -> bool:
    """Whether the object has the name that the framework gives it."""
    return "name" in kind.properties and not call.properties.get("name")


def _needs_marker(kind: RestResource, call: Call) -> bool:
    return bool(kind.marker) and not _bears_token(kind, call)


def _told(kind: RestResource, call: Call) -> dict[str, Any]:
    """The given properties that the service tells apart from the object, and to this user."""
    told = {}
    for extra in kind.extras:
        if extra.tell is None or call.properties.get(extra.property) is None:
            continue
        try:
            told[extra.property] = extra.tell(call)
        except CloudFault as fault:
            if not is_out_of_sight(fault):
                raise
    return told


def _unmark(kind: RestResource, call: Call) -> None:
    """Replace the marker by the user's own value."""
    own = kind.creation_body(call)[kind.marker]
    kind.collection.update(call.cloud, call.object_id, {kind.marker: own})


def _is_unmarked(kind: RestResource, call: Call) -> bool:
    """Whether nothing distinguishes the object from others with its name."""
    return not kind.marker and bool(call.properties.get("name"))


def renamed(entry: Mapping[str, Any], wire: Mapping[str, str] = MappingProxyType({})) -> Object:
    """The values of an entry under the service's names for them; None values are omitted."""
    return {wire.get(name, name): value for name, value in entry.items() if value is not None}


def refusal(fault: CloudFault) -> Failed:
    """The outcome of a create that the cloud refused; raises faults that may pass.

    A conflict is final: a quota, or a name or address that is taken.
    """
    if is_conflict(fault):
        return Failed(describe(fault))
    raise fault


def went_to(status: str, reason: str, physical_id: str | None = None) -> Failed:
    """The failure of an object in an error status.

    Clients of Heat match on this name and wording.
    """
    words = f'Went to status {status} due to "{reason}"'
    return Failed(words, physical_id, kind="ResourceInError")


def marker_text(call: Call) -> str:
    """The marker of an object whose name the user has chosen."""
    return f"{MARKER}{call.token}"


def polling_pause(call: Call) -> float:
    """Seconds until the next look at an object: short at first, then growing."""
    return min(max(0.1, (call.now - call.started_at) / 5), 4.0)
