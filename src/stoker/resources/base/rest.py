"""Resource types that create one object in a REST collection, by declaration.

A subclass names its collection and maps its properties to fields of the object. Properties that
need a request of their own, such as tags, are :class:`FollowUpRequest`. The engine calls
``create``, ``update``, ``delete`` and the other methods of :class:`ManagedType` in worker threads;
each sends one or a few requests and returns an outcome. ``Wait`` has the engine call again later.
Its data are committed before the next call, so every method can be repeated after a crash.

The invariant: a create never makes two objects. If the response is lost, ``find`` searches for the
object before the request is sent again. It is recognized by, in this order:

- its name, ``call.physical_name``, which ends with the intent token;
- ``stoker:<token>`` in its marker field, if the user chose the name. The user's own value of that
  field is set once the id is stored;
- its absence from the list of similar objects that was stored before the create, if the service
  has no such field. If two new ones appear, the create fails, and its message names both;
- nothing, if the service allows only one such object (``unique``).

Tested by tests/resource_types_openstack, lost responses by test_found_again.py there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from msgspec import Struct

from stoker.clouds.faults import CloudError, describe, is_busy, is_conflict, is_out_of_sight
from stoker.clouds.objects.bulk_polling import pause_for, poll
from stoker.clouds.objects.collection import Collection, Object
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.schema.properties import Attribute, Property
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

MARKER = "stoker:"  # The token follows.
_BEFORE = "before"  # Key of the data: ids of similar objects that existed before the create.
_SENT = "sent"  # Key of the progress: the service accepted the request and is working on it.
_UNSENT = frozenset({"name", "value_specs"})


class FollowUpRequest(Struct, frozen=True):
    """A property that is set by a request of its own, once the object exists."""

    property: str
    apply: Callable[[Call], None]  # Must be safe to repeat.
    # Reads the current value, if the object's own fields do not contain it.
    read: Callable[[Call], Any] | None = None


class Readiness(Struct, frozen=True):
    """The statuses of an object that the service builds in the background."""

    pending: frozenset[str]
    failed: frozenset[str] = frozenset({"ERROR"})
    field: str = "status"
    reason: str = "status_reason"  # Field in which the service explains a failure.


class RestResource(ManagedType):
    """A type whose objects are created, read, changed and deleted in a REST collection."""

    attributes: ClassVar[Mapping[str, Attribute]] = {"show": declare.SHOW}
    collection: ClassVar[Collection]
    field_names: ClassVar[Mapping[str, str]] = {}  # Property -> field, where they differ.
    # Property -> value that clears it, if the service does not accept null.
    clear_values: ClassVar[Mapping[str, Any]] = {}
    attribute_fields: ClassVar[Mapping[str, str]] = {}  # Attribute -> field, where they differ.
    follow_up_requests: ClassVar[tuple[FollowUpRequest, ...]] = ()
    readiness: ClassVar[Readiness | None] = None
    # Field for the token if the user chose the name; empty if there is none.
    marker_field: ClassVar[str] = "description"
    has_name: ClassVar[bool] = False  # True if objects have names that users cannot choose.
    # Fields that distinguish an object which cannot hold the token.
    identity_fields: ClassVar[tuple[str, ...]] = ("name",)
    # Property with the id of the parent object, for a nested collection.
    parent_property: ClassVar[str] = ""
    async_delete: ClassVar[bool] = False  # True if the service deletes objects in the background.

    def of(self, call: Call) -> Collection:
        """Return the collection of the object, inside its parent if it has one."""
        parent = call.properties[self.parent_property] if self.parent_property else None
        return self.collection if parent is None else self.collection.within(str(parent))

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields of the object for these properties, without absent ones."""
        apart = _UNSENT | _set_separately(self) | {self.parent_property}
        own = {
            name: _without_unset(value, self.properties.get(name))
            for name, value in properties.items()
            if name not in apart
        }
        return rename_fields(own, self.field_names)

    def create(self, call: Call) -> Outcome:
        """Create the object, send the follow-up requests, and wait until it is usable."""
        # The id is committed before the follow-up requests, which can all be repeated.
        if call.physical_id is not None:
            return self._finish_setup(call)
        if _is_unmarked(self, call) and not self.unique and _BEFORE not in call.data:
            # Store the ids of similar objects first. After a lost response, these are known to
            # belong to others.
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
            created = self.of(call).create(call.cloud, body, microversion=version)
        except CloudError as fault:
            return refusal(fault)
        physical_id = str(created[self.collection.id_field])
        # Barbican returns only the URL of a new object, so its status must be read.
        has_status = self.readiness is None or self.readiness.field in created
        if _required_follow_ups(self, call) or not has_status:
            return Wait(after=0.0, physical_id=physical_id)
        return self.judge(call, created)

    def _finish_setup(self, call: Call) -> Outcome:
        """Wait until the object is usable, send the follow-up requests, and wait again."""
        # A bulk list may be older than the follow-up requests, so read the object itself after
        # them.
        found = None if call.progress.get(_SENT) else poll_object(call, self.of(call))
        outcome = self.judge(call, found or self.of(call).get(call.cloud, call.object_id))
        requests = _required_follow_ups(self, call)
        if not requests or call.progress.get(_SENT) or not isinstance(outcome, Done):
            return outcome
        for request in requests:
            request.apply(call)
        outcome = self.judge(call, self.of(call).get(call.cloud, call.object_id))
        return replace(outcome, progress={_SENT: True}) if isinstance(outcome, Wait) else outcome

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """Return the microversion that a create needs; None for the collection's default."""
        return None

    def creation_body(self, call: Call) -> Object:
        """Return the fields of the new object, with its name."""
        body = self.fields(call.properties)
        body.update(call.properties.get("value_specs") or {})
        if self.has_name or "name" in self.properties:
            body["name"] = call.properties.get("name") or call.physical_name
        return body

    def update(self, call: Call) -> Outcome:
        """Send changed fields and follow-up requests, then wait until the object is usable."""
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
        """Return the fields that an update sends. Removed properties are cleared."""
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
        """Delete the object, and wait until it is gone if the service deletes in the background."""
        if call.physical_id is None:
            return Done()
        if not call.progress.get(_SENT):
            there = self.of(call).delete(call.cloud, call.physical_id)
        else:
            there = poll_object(call, self.of(call)) is not None
        if not self.async_delete or not there:
            return Done()
        reason = f"the {self.collection.words} is being deleted"
        pause = polling_pause(call, self.of(call))
        return Wait(pause, progress={_SENT: True}, reason=reason)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes of the live object, and the object itself as ``show``."""
        found = self.of(call).get(call.cloud, call.object_id)
        return {**self.attributes_of(call, found), "show": found}

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the declared attributes that are fields of the object."""
        names = {name: self.attribute_fields.get(name, name) for name in self.attributes}
        return {name: found[field] for name, field in names.items() if field in found}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties of the live object; None if it does not exist."""
        version = self.version(call.properties)
        found = self.of(call).find(call.cloud, call.object_id, microversion=version)
        return (
            None
            if found is None
            else self.properties_of(call, found) | _follow_up_values(self, call)
        )

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties that are fields of the object."""
        names = {name: self.field_names.get(name, name) for name in self.properties}
        observed = {name: found[field] for name, field in names.items() if field in found}
        specs = call.properties.get("value_specs") or {}
        if specs.keys() <= found.keys():
            observed["value_specs"] = {field: found[field] for field in specs}
        if self.parent_property:
            observed[self.parent_property] = call.properties[self.parent_property]
        return observed

    def check(self, call: Call) -> Outcome:
        """Check that the object exists and is usable."""
        found = None
        if call.physical_id is not None:
            found = self.of(call).find(call.cloud, call.physical_id)
        if found is None:
            return Failed(f"the {self.collection.words} {call.physical_id} no longer exists")
        return self.judge(call, found)

    def find(self, call: Call) -> str | None:
        """Return the id of the object that a lost create made, or None."""
        matches = self._with_token(call)
        if _is_unmarked(self, call) and (self.unique or _BEFORE in call.data):
            # Do not guess. Adopting an object of another owner would delete it later.
            matches = _new_candidates(self, call)
            if len(matches) > 1 and not self.unique:
                return None  # one of them may be ours, and nothing shows which
        return str(matches[0][self.collection.id_field]) if matches else None

    def sweep(self, call: Call) -> Sequence[str]:
        """Delete objects with this token other than the recorded one; return their ids."""
        surplus = [str(item[self.collection.id_field]) for item in self._with_token(call)]
        removed = [found for found in surplus if found != call.physical_id]
        for found in removed:
            self.of(call).delete(call.cloud, found)
        return removed

    def _with_token(self, call: Call) -> list[Object]:
        """Return the objects that have the token in their name or marker field."""
        if _has_token_name(self, call):
            return self.candidates(call)
        if not self.marker_field:
            return []
        where, text = self.of(call), marker_text(call)
        query = {self.marker_field: text} if where.filters else {}
        listed = where.select(call.cloud, where.detailed, **query)
        return [item for item in listed if item.get(self.marker_field) == text]

    def candidates(self, call: Call) -> list[Object]:
        """Return the objects that have the same identity fields as this one."""
        body = self.creation_body(call)
        like = {field: body.get(field) for field in self.identity_fields}
        listed = self.listed(call, like)
        return [item for item in listed if {field: item.get(field) for field in like} == like]

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List objects; the list is filtered by name if the service supports that."""
        where = self.of(call)
        query = {"name": like["name"]} if "name" in like and where.filters else {}
        return where.select(call.cloud, **query)

    def judge(self, call: Call, found: Object) -> Outcome:
        """Return the outcome for the object's status: done, waiting or failed."""
        physical_id = str(found[self.collection.id_field])
        rule = self.readiness
        status = str(found.get(rule.field, "")) if rule else ""
        if rule and status in rule.failed:
            return error_status(status, str(found.get(rule.reason) or "Unknown"), physical_id)
        if rule and status in rule.pending:
            reason = f"{self.collection.words} is {status}"
            early = bool(self.early_kind or self.early_attributes)
            pause = polling_pause(call, self.of(call))
            return Wait(pause, physical_id, reason=reason, early=early)
        return Done(physical_id, self.attributes_of(call, found))


def _set_separately(kind: RestResource) -> set[str]:
    return {request.property for request in kind.follow_up_requests}


def _new_candidates(kind: RestResource, call: Call) -> list[Object]:
    """Return the candidates that did not exist before the create."""
    known, id_field = call.data.get(_BEFORE, ()), kind.collection.id_field
    return [item for item in kind.candidates(call) if item[id_field] not in known]


def _ambiguous(kind: RestResource, candidates: Sequence[Object]) -> str:
    """Return why a create is not sent again after a lost response."""
    ids = ", ".join(sorted(str(item[kind.collection.id_field]) for item in candidates))
    return (
        f"a response to the create was lost, and {len(candidates)} objects of this name have "
        f"appeared since. One of them may be the {kind.collection.words} of this resource. Delete "
        f"those that nobody needs: {ids}"
    )


def _required_follow_ups(kind: RestResource, call: Call) -> list[FollowUpRequest]:
    required = [
        request for request in kind.follow_up_requests if call.properties.get(request.property)
    ]
    if _needs_marker(kind, call) and kind.creation_body(call).get(kind.marker_field) is not None:
        required.append(FollowUpRequest(kind.marker_field, partial(_unmark, kind)))
    return required


def _has_token_name(kind: RestResource, call: Call) -> bool:
    """Return whether the object has a generated name, which ends with the token."""
    return kind.has_name or ("name" in kind.properties and not call.properties.get("name"))


def _needs_marker(kind: RestResource, call: Call) -> bool:
    return bool(kind.marker_field) and not _has_token_name(kind, call)


def _follow_up_values(kind: RestResource, call: Call) -> dict[str, Any]:
    """Return the values of follow-up properties, except those that this user may not read."""
    values = {}
    for request in kind.follow_up_requests:
        if request.read is None or call.properties.get(request.property) is None:
            continue
        try:
            values[request.property] = request.read(call)
        except CloudError as fault:
            if not is_out_of_sight(fault):
                raise
    return values


def _unmark(kind: RestResource, call: Call) -> None:
    """Replace the marker by the user's own value."""
    own = kind.creation_body(call)[kind.marker_field]
    kind.of(call).update(call.cloud, call.object_id, {kind.marker_field: own})


def _is_unmarked(kind: RestResource, call: Call) -> bool:
    """Return whether the object cannot hold the token."""
    return not kind.marker_field and not _has_token_name(kind, call)


def _without_unset(value: Any, declared: Property | None) -> Any:
    """Remove entries of maps that the user has not given."""
    if declared is not None and isinstance(value, Mapping) and declared.entries is not None:
        entries = declared.entries
        return {k: _without_unset(v, entries.get(k)) for k, v in value.items() if v is not None}
    if declared is not None and isinstance(value, list | tuple):
        return [_without_unset(each, declared.items) for each in value]
    return value


def rename_fields(
    entry: Mapping[str, Any], names: Mapping[str, str] = MappingProxyType({})
) -> Object:
    """Return the values under the service's field names, without None values."""
    return {names.get(name, name): value for name, value in entry.items() if value is not None}


def refusal(fault: CloudError) -> Failed:
    """Return the failure of a create that the cloud refused; raise faults that may pass.

    A conflict is final if a quota is exhausted or a name or address is taken. It may pass if the
    service is working on the parent object.
    """
    if is_conflict(fault) and not is_busy(fault):
        return Failed(describe(fault))
    raise fault


def error_status(status: str, reason: str, physical_id: str | None = None) -> Failed:
    """Return the failure of an object in an error status. Heat's clients match on this wording."""
    words = f'Went to status {status} due to "{reason}"'
    return Failed(words, physical_id, kind="ResourceInError")


def marker_text(call: Call) -> str:
    """Return the marker of an object whose name the user chose."""
    return f"{MARKER}{call.token}"


def poll_object(call: Call, kind: Collection) -> Object | None:
    """Return the object from a recent bulk list, or None if it is gone.

    Many calls that wait for objects of one collection share a list request. The answer may be up to
    half a polling interval old.
    """
    pause = polling_pause(call, kind)
    return poll(call.cloud, kind, call.object_id, call.now, pause / 2)


def polling_pause(call: Call, kind: Collection | None = None) -> float:
    """Return the seconds until the next poll: 0.1 at first, growing to 4.

    It is longer from the start if many calls poll objects of ``kind`` in bulk.
    """
    pause = max(0.1, (call.now - call.started_at) / 5)
    if kind is not None:
        pause = max(pause, pause_for(call.cloud, kind, call.now))
    return min(pause, 4.0)
