"""Tests that every type of a service must pass, by table.

A :class:`Case` has the properties of a new object, and a new value for each property that can be
updated. Texts that start with ``@`` are placeholders for the ids of other objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.clouds.driving import Row, checked

from stoker.clouds.faults import CloudError, retry_after
from stoker.engine.execution.calls.adopt import examined
from stoker.engine.execution.calls.ownership import is_unproven
from stoker.engine.execution.observe.observing import Observation, observation_of
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.resource_type import (
    Adopts,
    Call,
    Checks,
    Contends,
    Done,
    Failed,
    ManagedType,
    Observes,
    Outcome,
    Reads,
    Replaces,
    Sweeps,
    Update,
    Updates,
    Wait,
    can,
    why_not_importable,
)
from stoker.schema.support import Support

TYPES = Registry()
_MOST_CALLS = 600


@dataclass(frozen=True)
class Case:
    """An object of a type, and the steps to try on it."""

    type_name: str
    given: Mapping[str, Any]
    # A new value for each property that can be updated.
    changed: Mapping[str, Any] = field(default_factory=dict)
    # Values that only another object can have.
    other: Mapping[str, Any] = field(default_factory=dict)
    # Objects that are created first, by the words for their ids.
    dependencies: Mapping[str, Case] = field(default_factory=dict)
    # Updatable properties that an object like this cannot update.
    fixed: frozenset[str] = frozenset()
    unreported: frozenset[str] = frozenset()  # properties that the service does not return
    by: str = "demo"
    joins: bool = False  # whether the id names the joined objects, and changes with them
    makes_nothing: bool = False  # whether the service keeps nothing that could be found again
    their_name: str = "theirs"  # whether a user may choose the name
    one_name: bool = False  # whether the service accepts each name once
    also: tuple[Mapping[str, Any], ...] = ()  # further forms, for answers that get lost

    @property
    def type(self) -> ManagedType:
        found = TYPES.find(self.type_name)
        assert isinstance(found, ManagedType), self.type_name
        return found

    def forms(self) -> Iterator[Mapping[str, Any]]:
        """The ways to recognize an object: a name of ours, or the user's."""
        if self.makes_nothing:
            return
        yield self.given
        if "name" not in self.given and "name" in self.type.properties:
            yield {**self.given, "name": self.their_name}
            if self.type.properties["name"].type == "string" and _describes(self.type):
                yield {**self.given, "name": self.their_name, "description": "by the user"}
        yield from self.also


def _describes(type_: ManagedType) -> bool:
    return isinstance(type_, RestResource) and type_.marker_field in type_.properties


@dataclass
class PatientRow(Row):
    """A row that retries, as the engine does, requests that a busy service refuses."""

    rest: Callable[[float], None] = lambda seconds: None
    began: float = 0.0

    def call(self, action: str, progress: Mapping[str, Any] | None = None) -> Call:
        call = super().call(action, progress)
        return replace(call, started_at=self.began or call.now)

    def find(self, action: str) -> str | None:
        """Return the object that is found for an action."""
        assert isinstance(self.type, Adopts)
        for attempt in range(_MOST_CALLS):
            try:
                return self.type.find(self.call(action))
            except CloudError as fault:
                if retry_after(fault, min(attempt, 5)) is None:
                    raise
                self.rest(0.2)
        raise AssertionError("the service does not show the object")

    def run(self, action: str, limit: int = _MOST_CALLS, **changes: Any) -> Outcome:
        method = getattr(self.type, action.lower())
        progress: Mapping[str, Any] = {}
        self.began = self.clock()
        last: Any = None
        for attempt in range(limit):
            try:
                last = outcome = method(replace(self.call(action, progress), **changes))
            except CloudError as fault:
                if retry_after(fault, min(attempt, 5)) is None:
                    raise
                last = fault
                self.rest(0.2)
                continue
            self.note(outcome)
            if not isinstance(outcome, Wait):
                return outcome
            self.rest(outcome.after)
            progress = progress if outcome.progress is None else outcome.progress
        raise AssertionError(f"{action} still waits: {last}")


@dataclass
class Ground:
    """The clouds, and the objects created in them for a case."""

    connections: Mapping[str, Any]
    ids: dict[str, str] = field(default_factory=dict)
    # Waits this number of seconds, where the clouds need real time.
    rest: Callable[[float], None] = lambda seconds: None
    # The time, for services that compare it with their own.
    clock: Callable[[], float] = lambda: 100.0

    def place(self, value: Any) -> Any:
        """A value with ids in the places of words."""
        if isinstance(value, Mapping):
            return {key: self.place(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [self.place(entry) for entry in value]
        return self.ids.get(value, value) if isinstance(value, str) else value

    def row(self, case: Case, given: Mapping[str, Any], name: str = "thing") -> PatientRow:
        """A resource with its own token, whose object does not exist yet."""
        cloud = self.connections[case.by]
        token = RandomIds().token()
        row = PatientRow(case.type, cloud, self.place(given), token=token, name=name)
        row.rest = self.rest
        row.clock = self.clock
        return row

    @contextmanager
    def prepared(self, case: Case) -> Iterator[None]:
        """With everything that a case needs; taken away at the end."""
        known = dict(self.ids)
        made: list[PatientRow] = []
        try:
            for word, needed in case.dependencies.items():
                made += self._make(word, needed)
            yield
        finally:
            for row in reversed(made):
                assert isinstance(row.delete(), Done)
            self.ids = known

    def _make(self, word: str, case: Case) -> list[PatientRow]:
        before = [
            row for name, needed in case.dependencies.items() for row in self._make(name, needed)
        ]
        if word in self.ids:
            return before
        row = self.row(case, case.given, word.strip("@").replace("_", "-"))
        row.create()
        self.ids[word] = str(row.physical_id)
        return [*before, row]


def looked(row: Row) -> Observation:
    """Return the observation of the live object."""
    assert can(row.type, Observes)
    return observation_of(row.type, row.call("READ"))


def differences(row: Row) -> dict[str, tuple[Any, Any]]:
    """Return applied and live value of each difference."""
    return {each.name: (each.applied, each.live) for each in looked(row).found.differences}


def assert_same(row: Row, after: str = "") -> None:
    """The live object is as its properties say."""
    found = differences(row)
    assert found == {}, f"{after or row.type.type_name} differs: {found}"


def updatable(type_: ManagedType) -> set[str]:
    """The properties that an update changes in place, and that users are shown."""
    return {
        name
        for name, declared in type_.properties.items()
        if declared.update_allowed
        and not declared.immutable
        and declared.renamed_to is None
        and declared.support.status is not Support.HIDDEN
        and name != "value_specs"
    }


def lives(ground: Ground, case: Case) -> None:
    """Made, read, changed property by property, checked, deleted, and deleted again."""
    type_ = case.type
    row = ground.row(case, case.given)
    row.create()
    try:
        is_as_given(row, case)
        if can(type_, Reads):
            known = {**row.attributes, **row.read()}
            assert known["show"] is not None
        changes(ground, row, case)
        is_well(row)
        replaces(ground, row, case)
        makes_way(ground, row, case)
    finally:
        assert isinstance(row.delete(), Done)
    assert isinstance(row.delete(), Done)


def is_as_given(row: Row, case: Case) -> None:
    if can(row.type, Observes):
        look = looked(row)
        assert not look.gone
        assert_same(row)
        unreported = set(look.found.unreported)
        assert unreported == case.unreported & set(row.given), f"not told: {unreported}"


def changes(ground: Ground, row: PatientRow, case: Case) -> None:
    """Change each property, and back again, then all of them together."""
    assert {*case.changed, *case.fixed} == updatable(case.type)
    first = dict(row.given)
    for name, value in case.changed.items():
        if makes_another(ground, row, case, name):
            continue
        assert can(case.type, Updates)
        physical_id = row.physical_id
        outcome = row.update(**{**row.given, name: ground.place(value)})
        assert isinstance(outcome, Done), (name, outcome)
        assert case.joins or row.physical_id == physical_id
        if can(case.type, Observes):
            assert_same(row, name)
    if case.changed:
        outcome = row.update(**first)
        assert isinstance(outcome, Done), outcome
        if can(case.type, Observes):
            assert_same(row)


def makes_another(ground: Ground, row: PatientRow, case: Case, name: str) -> bool:
    """Return whether the type requires a new object for the change of a property."""
    if not can(case.type, Replaces):
        return False
    after = checked(case.type, {**row.given, name: ground.place(case.changed[name])})
    update = Update(row.call("UPDATE").properties, frozenset({name}))
    return case.type.needs_replacement(replace(row.call("UPDATE"), properties=after, update=update))


def replaces(ground: Ground, row: PatientRow, case: Case) -> None:
    """The object of a replacement is another one, and outlives the first."""
    if not case.other:
        return
    assert not any(case.type.properties[name].update_allowed for name in case.other)
    new = ground.row(case, {**case.given, **case.other}, "replacement")
    try:
        new.create()
        assert new.physical_id != row.physical_id
        is_as_given(new, case)
    finally:
        assert isinstance(new.delete(), Done)
    is_well(row)


def makes_way(ground: Ground, row: PatientRow, case: Case) -> None:
    """An object that blocks its replacement is deleted, and created again if it stays."""
    type_ = case.type
    if not isinstance(type_, MakesWay):
        return
    assert isinstance(type_, Adopts)
    new = ground.row(case, row.given, "successor").call("CREATE")
    new = replace(new, physical_name=row.call("CREATE").physical_name)
    in_the_way = type_.occupants(new) if can(type_, Contends) else [type_.find(new)]
    assert row.physical_id in in_the_way
    for _ in range(2):  # as after a death of the engine
        assert isinstance(row.run("RELEASE"), Done)
        assert looked(row).gone
        is_well(row)
    assert isinstance(row.run("RECLAIM"), Done)
    is_as_given(row, case)
    assert isinstance(row.run("RECLAIM"), Done)


def is_well(row: PatientRow) -> None:
    if can(row.type, Checks):
        assert isinstance(row.run("CHECK"), Done)


def drifts(ground: Ground, case: Case) -> None:
    """Check that changes by others are found and reverted, and deleted objects are missed."""
    type_ = case.type
    if not isinstance(type_, RestResource):
        return
    row = ground.row(case, case.given)
    row.create()
    try:
        _changes_show(ground, row, case)
        theirs = ground.row(case, row.given)
        theirs.physical_id, theirs.data = row.physical_id, row.data
        assert isinstance(theirs.delete(), Done)
        assert type_.of(row.call("READ")).find(row.cloud, str(row.physical_id)) is None
        assert looked(row).gone
        assert isinstance(row.run("CHECK"), Failed)
    finally:
        assert isinstance(row.delete(), Done)


def _changes_show(ground: Ground, row: PatientRow, case: Case) -> None:
    """Check that each property that others change is found, without others, and reverted."""
    assert isinstance(case.type, RestResource)
    extras = {extra.property for extra in case.type.follow_up_requests}
    for name in sorted(set(case.changed) - extras - case.unreported):
        value, before = ground.place(case.changed[name]), row.given
        if row.call("READ").properties[name] is None:
            continue  # unrequested properties are not compared
        if makes_another(ground, row, case, name):
            continue
        theirs = ground.row(case, {**row.given, name: value})
        theirs.physical_id, theirs.data = row.physical_id, row.data
        update = Update(row.call("READ").properties, frozenset({name}))
        assert isinstance(theirs.run("UPDATE", update=update), Done)
        found = differences(row)
        assert set(found) == {name}, f"{name} was changed, and differs: {found}"
        live = {**row.call("READ").properties, name: theirs.call("READ").properties[name]}
        assert isinstance(row.run("UPDATE", update=Update(live, frozenset({name}))), Done)
        assert_same(row, name)
        assert row.given == before


def is_imported(ground: Ground, case: Case) -> None:
    """An object that others have made is the same for a resource that only knows its id."""
    type_ = case.type
    if why_not_importable(type_) is not None:
        return
    theirs = ground.row(case, case.given, "theirs")
    theirs.create()
    ours = ground.row(case, theirs.given, "ours")
    ours.physical_id = theirs.physical_id
    try:
        _, why_not = examined(type_, ours.call("ADOPT"))
        # The stack of the tests is in no project of the cloud.
        assert why_not in (None, f"{ours.physical_id} belongs to another project")
        look = looked(ours)
        assert not look.gone
        # A name that the properties do not give is generated from the name of the resource.
        differing = differences(ours)
        assert differing.keys() <= {"name"} - ours.given.keys(), differing
        is_well(ours)
    except BaseException:
        theirs.delete()
        raise
    assert isinstance(ours.delete(), Done)
    left = looked(theirs)
    assert left.gone or left.found.differences


def is_found_again(ground: Ground, case: Case, given: Mapping[str, Any]) -> None:
    """An object whose answer was lost is found, once only, and beside one of the same name."""
    type_ = case.type
    assert isinstance(type_, Adopts)
    namesake = None
    if "name" in given and not case.one_name and not type_.unique:
        namesake = ground.row(case, {**given, **case.other}, "first")
        namesake.create()
    row = ground.row(case, given, "second")
    try:
        _make_and_forget(row)
        found = row.find("CREATE")
        assert found is not None
        assert found != (namesake.physical_id if namesake else None)
        assert row.find("DELETE") == found
        row.physical_id = found
        outcome = row.run("CREATE")
        assert isinstance(outcome, Done), outcome
        assert row.physical_id == found
        if isinstance(type_, Sweeps):
            assert list(type_.sweep(row.call("CREATE"))) == []
        is_as_given(row, case)
    finally:
        for each in (row, namesake):
            if each is not None:
                assert isinstance(each.delete(), Done)


def spares_others(theirs: Row, ours: Row) -> None:
    """P9: an object that others have made is not taken for that of a row that asks for the same.

    Where objects do not show whose they are, the look before the first create sees it. Elsewhere a
    create is rejected, or makes another object, and nothing of others goes with the row.
    """
    type_ = theirs.type
    assert isinstance(type_, ManagedType)
    assert can(type_, Adopts)
    assert isinstance(theirs.run("CREATE", _MOST_CALLS), Done)
    try:
        call = ours.call("CREATE")
        if is_unproven(type_, call.properties):
            seen_before = type_.occupants(call) if can(type_, Contends) else [type_.find(call)]
            assert theirs.physical_id in seen_before
            return
        with suppress(CloudError):
            ours.run("CREATE", _MOST_CALLS)
        if ours.physical_id is None:
            assert type_.find(ours.call("DELETE")) is None
        assert isinstance(ours.run("DELETE", _MOST_CALLS), Done)
        if can(type_, Checks):
            assert isinstance(theirs.run("CHECK", _MOST_CALLS), Done)
        if can(type_, Observes):
            assert not looked(theirs).gone
    finally:
        assert isinstance(theirs.run("DELETE", _MOST_CALLS), Done)


def _make_and_forget(row: PatientRow) -> None:
    """Call until an object is created, and forget the response."""
    type_ = row.type
    assert isinstance(type_, Adopts)
    assert isinstance(type_, ManagedType)
    for _ in range(_MOST_CALLS):
        assert row.find("CREATE") is None
        try:
            outcome = type_.create(row.call("CREATE"))
        except CloudError as fault:
            if retry_after(fault, 0) is None:
                raise
            continue
        if outcome.physical_id is not None:
            return
        assert isinstance(outcome, Wait), outcome
        row.note(replace(outcome, physical_id=None))
    raise AssertionError("nothing was made")
