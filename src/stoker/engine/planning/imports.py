"""Imports and releases: objects that become part of a stack, or leave it, without a call.

A template declares imports in the metadata of resources, or a request lists them. The rows of
imported objects are made before the plan, so a plan compares an imported object with its definition
as it compares any other one. A request also lists resources that leave the stack without their
objects.

Invariant: only a resource without an object imports one. A declaration whose import has been made
has no effect, and can stay in the template.

Operations and previews call it. Tested by tests/imports and the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from stoker.engine.model.plans import Definitions, Releases
from stoker.engine.model.records import Action, Resource, Status, is_nested
from stoker.engine.model.secrets import masking_of
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, did_you_mean
from stoker.kernel.logs.masking import Masking
from stoker.kernel.values import replace
from stoker.schema.drift import Difference
from stoker.schema.unknown import unknown_in
from stoker.schema.words import shown
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation

NO_IMPORTS: Mapping[str, str] = {}
MOST_IMPORTS = 1_000  # in one operation on a stack; each object is read before the plan
_MOST_FAULTS = 20  # in one report


def imports_to_make(
    desired: Definitions,
    current: Mapping[str, Resource],
    requested: Mapping[str, str] = NO_IMPORTS,
) -> dict[str, str]:
    """Return the ids of objects to import, by resource.

    ``requested`` has ids by resource, beside those that the template declares. Raises
    DiagnosticError for an import that is impossible, with the first few of these.
    """
    declared = {
        name: id_ for name, id_ in desired.imports.items() if lacks_object(current.get(name))
    }
    existing = {
        name: id_
        for name, id_ in requested.items()
        if name in current and current[name].physical_id == id_
    }
    found = {**declared, **{name: id_ for name, id_ in requested.items() if name not in existing}}
    faults = list(islice(_faults(desired, current, requested, found), _MOST_FAULTS))
    if faults:
        raise DiagnosticError(faults)
    return found


def lacks_object(row: Resource | None) -> bool:
    """Return whether a resource has no object, or its create failed before there was one."""
    if row is None or row.action is Action.INIT:
        return True
    failed = row.action is Action.CREATE and row.status is Status.FAILED
    return failed and row.physical_id is None


def require_releasable(
    releases: Releases, desired: Definitions, current: Mapping[str, Resource]
) -> None:
    """Raise DiagnosticError for a resource that cannot leave the stack without its object."""
    names = frozenset(desired.names)
    faults = list(islice(_unreleasable(names, current, releases.paths), _MOST_FAULTS))
    if faults:
        raise DiagnosticError(faults)


class ImportFaults:
    """Faults of imports, reported together."""

    def __init__(self, desired: Definitions) -> None:
        self._desired = desired
        self._found: list[Diagnostic] = []

    @cached_property
    def _masking(self) -> Masking:
        known = [self._desired] if isinstance(self._desired, Evaluation) else []
        return masking_of(*known)

    def add(self, name: str, message: str, suggestion: str | None = None) -> None:
        """Add the fault of the import of a resource."""
        self._found.append(_fault(name, message, suggestion))

    def compare(self, definition: Definition, differences: Iterable[Difference]) -> None:
        """Add the changes that the import of an object would make or may make."""
        for fault in (*_differing(definition, differences), *_not_known(definition)):
            self._found.append(self._masked(fault))

    def require_none(self) -> None:
        """Raise DiagnosticError with the first few faults, if there are any."""
        if not self._found:
            return
        faults: Iterable[Diagnostic] = self._found[:_MOST_FAULTS]
        if isinstance(self._desired, Evaluation):
            faults = self._desired.template.source.all_located(faults)
        raise DiagnosticError(faults)

    def _masked(self, fault: Diagnostic) -> Diagnostic:
        """Return a diagnostic without values of hidden parameters."""
        text = self._masking.text
        suggestion = None if fault.suggestion is None else text(fault.suggestion)
        return replace(fault, message=text(fault.message), suggestion=suggestion)


def known_properties(definition: Definition) -> dict[str, Any]:
    """Return the properties whose values are known."""
    properties = definition.properties
    return {name: value for name, value in properties.items() if not unknown_in(value)}


def _differing(definition: Definition, differences: Iterable[Difference]) -> Iterator[Diagnostic]:
    """Return why an object is not imported: the template would change it."""
    name = definition.name
    for each in differences:
        written = definition.properties.get(each.name)
        desired = f"the template has {shown(written)}"
        if written is None:
            desired = f"a resource without one gets {shown(each.applied)}"
        correction = f"write {each.name}: {shown(each.live)}"
        if each.live in (None, "", [], {}):
            correction = f"leave {each.name} out"
        yield Diagnostic(
            "import-differs",
            f"the import of {name} would change its object: {each.name} is {shown(each.live)}, and"
            f" {desired}",
            ("resources", name, "properties", each.name),
            suggestion=f"{correction}, or allow the change of imported objects (--change-imported)",
        )


def _not_known(definition: Definition) -> Iterator[Diagnostic]:
    """Return the faults of properties that cannot be compared before the update."""
    for key, value in definition.properties.items():
        if (unknown := unknown_in(value)) is None:
            continue
        yield Diagnostic(
            "import-differs",
            f"the import of {definition.name} may change its object: {key} depends on"
            f" {', '.join(sorted(unknown.sources))}, whose value is not known yet",
            ("resources", definition.name, "properties", key),
            suggestion="import that object, too; or allow the change of imported objects"
            " (--change-imported)",
        )


def _faults(
    desired: Definitions,
    current: Mapping[str, Resource],
    requested: Mapping[str, str],
    found: Mapping[str, str],
) -> Iterator[Diagnostic]:
    names = frozenset(desired.names)
    for name, id_ in requested.items():
        if name not in names:
            message = f"{id_[:80]} cannot become {name}: the template has no resource {name}"
            yield _fault(name, message, did_you_mean(name, names))
        elif not lacks_object(current.get(name)) and current[name].physical_id != id_:
            message = f"{name} has an object already: {current[name].physical_id}"
            advice = f"give {id_[:80]} a resource of another name"
            yield _fault(name, message, advice)
        elif desired.imports.get(name, id_) != id_:
            message = f"{name} is imported from {desired.imports[name]}, and from {id_[:80]}"
            yield _fault(name, message)
    if len(found) > MOST_IMPORTS:
        message = f"one update imports at most {MOST_IMPORTS} objects, not {len(found)}"
        yield _fault(next(iter(found)), message, "import the others by another update")
    users: dict[tuple[str, str], str] = {}
    for name, id_ in found.items():
        first = users.setdefault((desired.type_names.get(name, ""), id_), name)
        if first != name:
            yield _fault(name, f"{name} and {first} import the same object, {id_[:80]}")


def _unreleasable(
    names: frozenset[str], current: Mapping[str, Resource], released: Iterable[str]
) -> Iterator[Diagnostic]:
    for path in released:
        name, _, below = path.partition("/")
        row = current.get(name)
        if row is None:
            message = f"{path} cannot be released: the stack has no resource {name}"
            yield Diagnostic("bad-release", message, suggestion=did_you_mean(name, current))
        elif below and not is_nested(row):
            yield Diagnostic("bad-release", f"{path} cannot be released: {name} is no nested stack")
        elif not below and name in names:
            message = f"{name} cannot be released: it is still in the template"
            advice = f"remove {name} and all references to it from the template"
            yield Diagnostic("bad-release", message, ("resources", name), suggestion=advice)


def _fault(name: str, message: str, suggestion: str | None = None) -> Diagnostic:
    return Diagnostic("impossible-import", message, ("resources", name), suggestion=suggestion)
