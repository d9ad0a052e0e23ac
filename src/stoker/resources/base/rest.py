"""Resources that are one object of a REST collection: declarations rather than code.

A type names its collection and maps its properties to fields of the object. What takes a request
of its own (tags, agents) is an :class:`FollowUpRequest`.

How a lost create is found again: the object is named ``call.physical_name``, which ends with the
intent token. If the user has chosen the name, the object is created with ``stoker:<token>`` in its
marker field, which is ``description`` if the service has one; the user's own value for that field
is set once the id is stored. If the service has no such field, the ids of the objects that are
already like it (of the same name, or alike in what the type names) are stored before the create:
the object is the one that is not among them. Where the service allows one such object only, it is
that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from msgspec import Struct

from stoker.clouds.bulk_polling import look
from stoker.clouds.collection import Collection, Object
from stoker.clouds.faults import CloudError, describe, is_busy, is_conflict, is_out_of_sight
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.schema.properties import Attribute, Property
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

MARKER = "stoker:"
"""Prefix of a marker; the token follows."""
_BEFORE = "before"
"""Key of the data: ids of the objects that were like this one already."""
_SENT = "sent"
"""Key of the progress: the service has the request, and works on it."""
_UNSENT = frozenset({"name", "value_specs"})


class FollowUpRequest(Struct, frozen=True):
    """A property that is set by a request of its own, once the object exists."""

    property: str
    apply: Callable[[Call], None]
    """Safe to repeat."""
    read: Callable[[Call], Any] | None = None
    """The value that the object has, where its own fields do not tell."""


class Readiness(Struct, frozen=True):
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
    field_names: ClassVar[Mapping[str, str]] = {}
    """Property -> field, where their names differ."""
    clear_values: ClassVar[Mapping[str, Any]] = {}
    """The value that clears a property, if the service does not accept null."""
    attribute_fields: ClassVar[Mapping[str, str]] = {}
    """Attribute -> field, where their names differ."""
    follow_up_requests: ClassVar[tuple[FollowUpRequest, ...]] = ()
    readiness: ClassVar[Readiness | None] = None
    marker_field: ClassVar[str] = "description"
    """Field that holds the token if the user has chosen the name; empty for none."""
    has_name: ClassVar[bool] = False
    """The objects have names, though users cannot choose them."""
    identity_fields: ClassVar[tuple[str, ...]] = ("name",)
    """Fields in which an object that cannot hold the token is told from others."""
    parent_property: ClassVar[str] = ""
    """Property with the id of the object that the collection belongs to, if it is one of many."""
    async_delete: ClassVar[bool] = False
    """The service removes objects in the background."""

    def of(self, call: Call) -> Collection:
        """The collection that the object is in."""
        parent = call.properties[self.parent_property] if self.parent_property else None
        return self.collection if parent is None else self.collection.within(str(parent))

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """The fields of the object for these properties; absent ones are omitted."""
        apart = _UNSENT | _set_separately(self) | {self.parent_property}
        own = {
            name: _without_unset(value, self.properties.get(name))
            for name, value in properties.items()
            if name not in apart
        }
        return rename_fields(own, self.field_names)

    def create(self, call: Call) -> Outcome:
        """Make the object, then set its extras, then wait until it is usable."""
        if call.physical_id is not None:
            return self._finish_setup(call)
        if _is_unmarked(self, call) and not self.unique and _BEFORE not in call.data:
            known = [item[self.collection.id_field] for item in self.candidates(call)]
            return Wait(after=0.0, data={**call.data, _BEFORE: known})
        candidates = _new_candidates(self, call) if call.data.get(_BEFORE) is not None else []
        if len(candidates) > 1:
            return Failed(_ambiguous(self, candidates))
        try:
            body = self.creation_body(call)
            if _needs_marker(self, call):
                body[self.marker_field] = marker_text(call)
            version = self.version(call.properties)
            made = self.of(call).create(call.cloud, body, microversion=version)
        except CloudError as fault:
            return refusal(fault)
        physical_id = str(made[self.collection.id_field])
        if _wanted_follow_ups(self, call):
            return Wait(after=0.0, physical_id=physical_id)
        return self.judge(call, made)

    def _finish_setup(self, call: Call) -> Outcome:
        """Wait until the object is usable; then set its extras, and wait again."""
        found = None if call.progress.get(_SENT) else poll_object(call, self.of(call))
        outcome = self.judge(call, found or self.of(call).get(call.cloud, call.object_id))
        requests = _wanted_follow_ups(self, call)
        if not requests or call.progress.get(_SENT) or not isinstance(outcome, Done):
            return outcome
        for request in requests:
            request.apply(call)
        outcome = self.judge(call, self.of(call).get(call.cloud, call.object_id))
        return replace(outcome, progress={_SENT: True}) if isinstance(outcome, Wait) else outcome

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """The microversion that a create needs; None for the default of the collection."""
        return None

    def creation_body(self, call: Call) -> Object:
        """The fields of the new object and its name."""
        body = self.fields(call.properties)
        body.update(call.properties.get("value_specs") or {})
        if self.has_name or "name" in self.properties:
            body["name"] = call.properties.get("name") or call.physical_name
        return body

    def update(self, call: Call) -> Outcome:
        """Change the fields and extras that have changed, then wait until it is usable."""
        answer = None
        if not call.progress.get(_SENT):
            body = self.changed_fields(call)
            answer = self.of(call).update(call.cloud, call.object_id, body) if body else None
            for request in self.follow_up_requests:
                if request.property in call.update.changed:
                    request.apply(call)
        outcome = self.judge(call, answer or self.of(call).get(call.cloud, call.object_id))
        return replace(outcome, progress={_SENT: True}) if isinstance(outcome, Wait) else outcome

    def changed_fields(self, call: Call) -> Object:
        """The fields that an update sends; a removed property is cleared."""
        changed = {name: call.properties.get(name) for name in call.update.changed}
        body = self.fields(changed)
        apart = _UNSENT | _set_separately(self)
        for name, value in changed.items():
            if value is None and name not in apart:
                body.setdefault(self.field_names.get(name, name), self.clear_values.get(name))
        if "value_specs" in call.update.changed:
            body.update(call.properties.get("value_specs") or {})
        if "name" in call.update.changed:
            body["name"] = call.properties.get("name") or call.physical_name
        return body

    def delete(self, call: Call) -> Outcome:
        """Remove the object, and wait until it is gone where that takes the service a while."""
        if call.physical_id is None:
            return Done()
        if not call.progress.get(_SENT):
            there = self.of(call).delete(call.cloud, call.physical_id)
        else:
            there = poll_object(call, self.of(call)) is not None
        if not self.async_delete or not there:
            return Done()
        reason = f"the {self.collection.words} is being deleted"
        return Wait(polling_pause(call), progress={_SENT: True}, reason=reason)

    def read(self, call: Call) -> Mapping[str, Any]:
        """All attributes of the live object, and the object itself as ``show``."""
        found = self.of(call).get(call.cloud, call.object_id)
        return {**self.attributes_of(call, found), "show": found}

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """The declared attributes that are fields of the object."""
        names = {name: self.attribute_fields.get(name, name) for name in self.attributes}
        return {name: found[field] for name, field in names.items() if field in found}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """The properties of the live object, read from its fields and beside them."""
        version = self.version(call.properties)
        found = self.of(call).find(call.cloud, call.object_id, microversion=version)
        return (
            None
            if found is None
            else self.properties_of(call, found) | _follow_up_values(self, call)
        )

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """The properties that are fields of the object."""
        names = {name: self.field_names.get(name, name) for name in self.properties}
        told = {name: found[field] for name, field in names.items() if field in found}
        specs = call.properties.get("value_specs") or {}
        if specs.keys() <= found.keys():
            told["value_specs"] = {field: found[field] for field in specs}
        if self.parent_property:
            told[self.parent_property] = call.properties[self.parent_property]
        return told

    def check(self, call: Call) -> Outcome:
        """Return whether the live object is there and usable."""
        found = None
        if call.physical_id is not None:
            found = self.of(call).find(call.cloud, call.physical_id)
        if found is None:
            return Failed(f"the {self.collection.words} {call.physical_id} no longer exists")
        return self.judge(call, found)

    def find(self, call: Call) -> str | None:
        """The object that a lost create has created."""
        matches = self._with_token(call)
        if _is_unmarked(self, call) and (self.unique or _BEFORE in call.data):
            matches = _new_candidates(self, call)
            if len(matches) > 1 and not self.unique:
                return None  # one of them may be ours, and nothing shows which
        return str(matches[0][self.collection.id_field]) if matches else None

    def sweep(self, call: Call) -> Sequence[str]:
        """Remove objects that carry the token and are not the recorded one."""
        surplus = [str(item[self.collection.id_field]) for item in self._with_token(call)]
        removed = [found for found in surplus if found != call.physical_id]
        for found in removed:
            self.of(call).delete(call.cloud, found)
        return removed

    def _with_token(self, call: Call) -> list[Object]:
        """The objects that carry the token, as their name or as their marker."""
        if _has_token_name(self, call):
            return self.candidates(call)
        if not self.marker_field:
            return []
        where, text = self.of(call), marker_text(call)
        query = {self.marker_field: text} if where.filters else {}
        listed = where.select(call.cloud, where.detailed, **query)
        return [item for item in listed if item.get(self.marker_field) == text]

    def candidates(self, call: Call) -> list[Object]:
        """The objects that nothing but their ids tells from this one."""
        body = self.creation_body(call)
        like = {field: body.get(field) for field in self.identity_fields}
        listed = self.listed(call, like)
        return [item for item in listed if {field: item.get(field) for field in like} == like]

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """Objects, among them those like this; not every service can filter by name."""
        where = self.of(call)
        query = {"name": like["name"]} if "name" in like and where.filters else {}
        return where.select(call.cloud, **query)

    def judge(self, call: Call, found: Object) -> Outcome:
        """The outcome for the object's status: done, still waiting, or failed."""
        physical_id = str(found[self.collection.id_field])
        rule = self.readiness
        status = str(found.get(rule.field, "")) if rule else ""
        if rule and status in rule.failed:
            return error_status(status, str(found.get(rule.reason) or "Unknown"), physical_id)
        if rule and status in rule.pending:
            pause = polling_pause(call)
            return Wait(pause, physical_id, reason=f"{self.collection.words} is {status}")
        return Done(physical_id, self.attributes_of(call, found))


def _set_separately(kind: RestResource) -> set[str]:
    return {request.property for request in kind.follow_up_requests}


def _new_candidates(kind: RestResource, call: Call) -> list[Object]:
    """Return the objects like this one that were not there before the create."""
    known, id_field = call.data.get(_BEFORE, ()), kind.collection.id_field
    return [item for item in kind.candidates(call) if item[id_field] not in known]


def _ambiguous(kind: RestResource, candidates: Sequence[Object]) -> str:
    """Return why a create whose response was lost is not sent again."""
    ids = ", ".join(sorted(str(item[kind.collection.id_field]) for item in candidates))
    return (
        f"a response to the create was lost, and {len(candidates)} objects of this name have "
        f"appeared since. One of them may be the {kind.collection.words} of this resource. Delete "
        f"those that nobody needs: {ids}"
    )


def _wanted_follow_ups(kind: RestResource, call: Call) -> list[FollowUpRequest]:
    wanted = [
        request for request in kind.follow_up_requests if call.properties.get(request.property)
    ]
    if _needs_marker(kind, call) and kind.creation_body(call).get(kind.marker_field) is not None:
        wanted.append(FollowUpRequest(kind.marker_field, partial(_unmark, kind)))
    return wanted


def _has_token_name(kind: RestResource, call: Call) -> bool:
    """Return whether the object has the name that the framework gives it."""
    return kind.has_name or ("name" in kind.properties and not call.properties.get("name"))


def _needs_marker(kind: RestResource, call: Call) -> bool:
    return bool(kind.marker_field) and not _has_token_name(kind, call)


def _follow_up_values(kind: RestResource, call: Call) -> dict[str, Any]:
    """The given properties that the service tells apart from the object, and to this user."""
    told = {}
    for request in kind.follow_up_requests:
        if request.read is None or call.properties.get(request.property) is None:
            continue
        try:
            told[request.property] = request.read(call)
        except CloudError as fault:
            if not is_out_of_sight(fault):
                raise
    return told


def _unmark(kind: RestResource, call: Call) -> None:
    """Replace the marker by the user's own value."""
    own = kind.creation_body(call)[kind.marker_field]
    kind.of(call).update(call.cloud, call.object_id, {kind.marker_field: own})


def _is_unmarked(kind: RestResource, call: Call) -> bool:
    """Return whether nothing distinguishes the object from others like it."""
    return not kind.marker_field and not _has_token_name(kind, call)


def _without_unset(value: Any, declared: Property | None) -> Any:
    """A value without the entries of maps that the user has not given."""
    if declared is not None and isinstance(value, Mapping) and declared.entries is not None:
        entries = declared.entries
        return {k: _without_unset(v, entries.get(k)) for k, v in value.items() if v is not None}
    if declared is not None and isinstance(value, list | tuple):
        return [_without_unset(each, declared.items) for each in value]
    return value


def rename_fields(
    entry: Mapping[str, Any], names: Mapping[str, str] = MappingProxyType({})
) -> Object:
    """The values of an entry under the service's names for them; None values are omitted."""
    return {names.get(name, name): value for name, value in entry.items() if value is not None}


def refusal(fault: CloudError) -> Failed:
    """The outcome of a create that the cloud refused; raises faults that may pass.

    A conflict is final: a quota, or a name or address that is taken. It passes where the service is
    at work on the object above.
    """
    if is_conflict(fault) and not is_busy(fault):
        return Failed(describe(fault))
    raise fault


def error_status(status: str, reason: str, physical_id: str | None = None) -> Failed:
    """The failure of an object in an error status.

    Clients of Heat match on this name and wording.
    """
    words = f'Went to status {status} due to "{reason}"'
    return Failed(words, physical_id, kind="ResourceInError")


def marker_text(call: Call) -> str:
    """The marker of an object whose name the user has chosen."""
    return f"{MARKER}{call.token}"


def poll_object(call: Call, kind: Collection) -> Object | None:
    """The object that is being made, or removed, as it is or was not long before; None when it is
    gone."""
    return look(call.cloud, kind, call.object_id, call.now, polling_pause(call) / 2)


def polling_pause(call: Call) -> float:
    """Seconds until the next look at an object: short at first, then growing."""
    return min(max(0.1, (call.now - call.started_at) / 5), 4.0)
