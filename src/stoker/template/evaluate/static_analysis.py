"""Static analysis of each resource, before anything exists: references and diagnostics.

Takes the body of a resource and the scope of its template. Produces its dependencies, the
attributes it refers to, diagnostics, and a definition in which references are unknown.

Invariant: the analysis is an evaluation that records every reference and returns an unknown value
for it. So it follows the same branches, names and paths as every later evaluation. It also records
its reads. With them, :mod:`stoker.template.evaluate.reuse` decides whether it stays valid.

:class:`stoker.template.evaluate.evaluation.Evaluation` calls it. Tested by tests/language and
tests/operations/test_evaluation_cache.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import ReferenceType, ref

from msgspec import Struct

from stoker.kernel.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    Path,
    Severity,
    did_you_mean,
)
from stoker.kernel.errors import INVALID_REFERENCE
from stoker.kernel.json.tree import same
from stoker.kernel.time_limit import check
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    DependsImplicitly,
    NestingType,
    ResourceType,
    can,
    why_not_importable,
)
from stoker.schema.resource_type.neighbours import Neighbours
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.values import MISSING, check_properties
from stoker.schema.words import kind_of
from stoker.template.definition import (
    CustomCheck,
    Definition,
    DeletionPolicy,
    Dependencies,
    Facts,
    TooMuchWorkError,
)
from stoker.template.document import ResourceBody, Template, part_path
from stoker.template.evaluate.policies import deletion_policy
from stoker.template.functions.budget import Budget, Cost, check_size, is_small
from stoker.template.functions.failure import FunctionError
from stoker.template.functions.scope import Reads, Scope

Attributes = dict[str, set[str]]


# Resource name, attribute name (None for the reference), and value.
Answer = tuple[str, str | None, Any]


class RecordedReferences:
    """Unknown facts that record the references to them."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: Attributes = {}
        self.answers: list[Answer] = []

    def reference(self, name: str) -> Any:
        """Record the reference, and return an unknown value."""
        return self._record(name, None)

    def attribute(self, name: str, attribute: str) -> Any:
        """Record the reference, and return an unknown value."""
        self.attributes.setdefault(name, set()).add(attribute)
        return self._record(name, attribute)

    def _record(self, name: str, attribute: str | None) -> Unknown:
        unknown = Unknown(frozenset((name,)))
        self.names.add(name)
        self.answers.append((name, attribute, unknown))
        return unknown


class RecordedFacts:
    """Facts that record their answers."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.answers: list[Answer] = []

    def reference(self, name: str) -> Any:
        """Return and record the answer of the facts."""
        answer = self._facts.reference(name)
        self.answers.append((name, None, answer))
        return answer

    def attribute(self, name: str, attribute: str) -> Any:
        """Return and record the answer of the facts."""
        answer = self._facts.attribute(name, attribute)
        self.answers.append((name, attribute, answer))
        return answer


_ABSENT = object()
_NONE: frozenset[str] = frozenset()
_NOTING = Lock()
# Parts of a resource that can call functions.
_PARTS = (
    "properties",
    "metadata",
    "deletion_policy",
    "update_policy",
    "creation_policy",
    "external_id",
    "import_id",
)


def _import_fault(type_: ResourceType, import_id: Any, *, is_made: bool) -> str | None:
    """Return why the object of a resource cannot be imported, as far as the template shows it."""
    if import_id is None:
        return None
    if isinstance(import_id, Unknown):
        return "the id of an object to import must be known before the update starts"
    if not isinstance(import_id, str):
        return f"the id of an object to import is text, not {kind_of(import_id)}"
    if not is_made:
        return "a resource has an external id or an import; keep the one that you mean"
    why_not = why_not_importable(type_)
    return None if why_not is None else f"{type_.type_name} {why_not}"


def _ask(facts: Facts, name: str, attribute: str | None) -> Any:
    try:
        return facts.reference(name) if attribute is None else facts.attribute(name, attribute)
    except FunctionError:
        return _ABSENT


class Latest(Struct, frozen=True):
    """A definition, with the facts that it used.

    Evaluations share an analysis if the inputs that it has read are the same in both. A definition
    may read more, once its facts are known: a file whose name is an attribute, or the time. Such a
    definition belongs to one evaluator.
    """

    definition: Definition
    answers: Sequence[Answer]
    owner: ReferenceType[Evaluator] | None = None  # None if it is valid in every evaluation

    def is_valid(self, user: Evaluator, facts: Facts) -> bool:
        """Return whether an evaluator would find the same definition with these facts."""
        if self.owner is not None and self.owner() is not user:
            return False
        return all(same(_ask(facts, name, key), answer) for name, key, answer in self.answers)


@dataclass(slots=True)
class StaticAnalysis:
    """Facts about a resource in advance."""

    # With unknown values for references to others; None if it could not be evaluated.
    definition: Definition | None
    dependencies: frozenset[str]
    attributes: Attributes
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    custom_checks: Sequence[CustomCheck] = ()
    final: bool = False  # whether the definition has no unknown value, so that it will not change
    # What functions have read, in this analysis and in later definitions with facts.
    parameters: frozenset[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)  # full names, by name in the template
    has_conditions: bool = False
    may_change: bool = False  # whether they have read the time, or chance
    cost: Cost = field(default_factory=Cost)
    # The last definition; at first with unknown facts.
    latest: Latest | None = None
    # Whether a definition has read a resource that is no dependency: its name was a value.
    reads_others: bool = False
    # Faults that the type reports in the definition, once it was asked.
    objections: Sequence[Diagnostic] | None = None
    # Whether the text and the known values are small; None until computed.
    is_small: bool | None = None
    # The properties that need facts, if all other parts need none; None until computed.
    unknown_properties: Sequence[str] | None = None
    # Entries that resemble calls of functions; None until computed.
    misspelled_functions: Sequence[Diagnostic] | None = None

    @property
    def elsewhere(self) -> StaticAnalysis:
        """Return the analysis for another stack, without results from the facts of this one."""
        return self if self.final else replace(self, latest=None)

    def note(self, reads: Reads) -> None:
        """Record reads of functions. Several threads may call it at the same time."""
        self.has_conditions |= reads.has_conditions
        self.may_change |= reads.may_change
        if reads.parameters <= self.parameters and reads.files.keys() <= self.files.keys():
            return
        with _NOTING:
            self.parameters |= reads.parameters
            self.files = {**self.files, **reads.files}

    def __del__(self) -> None:
        """Do nothing: a Python method lets other threads run while thousands are freed."""


class Evaluator(Struct, frozen=True, weakref=True):
    """Evaluates the resources of one template."""

    template: Template
    scope: Scope
    types: Mapping[str, ResourceType]
    restricted: Mapping[str, frozenset[str]]  # actions that the environment forbids, by resource

    def analyse(self, body: ResourceBody) -> StaticAnalysis:
        """Analyse a resource."""
        facts = RecordedReferences()
        scope, before = self.scope.with_facts(facts, self.scope.budget), self.scope.budget.left
        analysis = StaticAnalysis(None, frozenset(), facts.attributes)
        found = analysis.diagnostics
        explicit = self._explicit(body, scope.resources, found)
        parts = self._parts(body, scope, found)
        analysis.dependencies = explicit.union(facts.names)
        definition = self._definition(body, parts, explicit, analysis, scope.budget)
        if definition is not None and not any(d.severity is Severity.ERROR for d in found):
            analysis.definition = definition
            analysis.final = not facts.names or unknown_in(parts) is None
            if not analysis.final:
                analysis.latest = Latest(definition, facts.answers)
        analysis.note(scope.parameters.reads)
        analysis.cost = scope.budget.used_since(before)
        return analysis

    def require_light(self, body: ResourceBody, analysis: StaticAnalysis) -> None:
        """Raise :class:`TooMuchWorkError` unless a definition looks like little work."""
        if analysis.is_small is None:
            parts = [body.properties, *filter(None, (body.metadata, body.update_policy))]
            known = analysis.definition
            if known is not None and analysis.final:
                parts += [known.properties, known.metadata]
            analysis.is_small = is_small(parts)
        type_ = self.types.get(body.name)
        if type_ is None or isinstance(type_, NestingType) or not analysis.is_small:
            raise TooMuchWorkError

    def definition(
        self, body: ResourceBody, analysis: StaticAnalysis, facts: Facts, *, light: bool = False
    ) -> Definition:
        """Return the definition with the facts known now. Raises :class:`DiagnosticError`.

        A light one takes no more than a millisecond, or raises :class:`TooMuchWorkError`.
        """
        if light:
            self.require_light(body, analysis)
        if analysis.final:
            return self._checked(analysis)
        latest = None if light else analysis.latest
        if latest is not None and latest.is_valid(self, facts):
            return latest.definition
        recorded = RecordedFacts(facts)
        scope = self.scope.with_facts(recorded, Budget.light() if light else None)
        completed = self._completed(body, analysis, scope) if light else None
        if completed is None:
            found = self._again(body, scope, analysis, light=light)
            if light and scope.budget.used_up:
                raise TooMuchWorkError
            completed = self._checked(found)
        reads = scope.parameters.reads
        analysis.note(reads)
        if all(name in analysis.dependencies for name, _, _ in recorded.answers):
            owner = ref(self) if reads.files or reads.may_change else None
            analysis.latest = Latest(completed, recorded.answers, owner)
        else:
            analysis.reads_others = True
        return completed

    def _checked(self, analysis: StaticAnalysis) -> Definition:
        """Return the definition. Raises :class:`DiagnosticError` if there are errors."""
        source = self.template.source
        if analysis.definition is None:
            raise DiagnosticError(source.all_located(analysis.diagnostics))
        errors = analysis.diagnostics.errors
        if errors:
            raise DiagnosticError(source.all_located(errors))
        return analysis.definition

    def _completed(
        self, body: ResourceBody, analysis: StaticAnalysis, scope: Scope
    ) -> Definition | None:
        """Return the definition in advance with the values of its unknown properties.

        None if other parts are unknown as well, or if a value has a fault or is absent.
        """
        known = analysis.definition
        if known is None:
            return None
        if analysis.unknown_properties is None:
            analysis.unknown_properties = self._unknown_properties(body, known)
        if not analysis.unknown_properties:
            return None
        raw, declared = {}, {}
        try:
            for name in analysis.unknown_properties:
                raw[name] = scope.resolve(body.properties[name])
                declared[name] = known.type.properties[name]
            checked = check_properties(raw, declared)
            for value in checked.values.values():
                scope.budget.count(value)
        except FunctionError:
            return None
        if checked.errors or None in raw.values():
            return None
        return replace(known, properties={**known.properties, **checked.values})

    def _unknown_properties(self, body: ResourceBody, known: Definition) -> Sequence[str]:
        """Return the properties that are unknown in advance; none if another part is unknown."""
        written = body.properties
        policies = known.update_policy, known.creation_policy
        for part in (known.metadata, *policies, known.external_id, known.import_id):
            if part and unknown_in(part):
                return ()
        if not isinstance(written, dict) or self.scope.is_call(written):
            return ()
        declared, found = known.type.properties, []
        for name in written:
            if declared[name].renamed_to is not None:
                return ()
            # OS::Heat::None accepts every property and stores none.
            if name in known.properties and unknown_in(known.properties[name]):
                found.append(name)
        return found

    def _again(
        self, body: ResourceBody, scope: Scope, analysis: StaticAnalysis, *, light: bool
    ) -> StaticAnalysis:
        latest = StaticAnalysis(None, analysis.dependencies, analysis.attributes)
        parts = self._parts(body, scope, latest.diagnostics)
        # A light definition has its own, smaller budget.
        if parts is not None and not light:
            try:
                check_size(parts)
            except FunctionError as failure:
                parts = None
                latest.diagnostics.extend(failure.inside(*body.path).diagnostics)
        explicit = analysis.definition.explicit_dependencies if analysis.definition else frozenset()
        latest.definition = self._definition(body, parts, explicit, latest, scope.budget)
        return latest

    def _parts(self, body: ResourceBody, scope: Scope, found: Diagnostics) -> dict[str, Any] | None:
        """Return the evaluated parts of a resource; None if one of them failed."""
        check()
        parts: dict[str, Any] = {}
        before = len(found)
        for part in _PARTS:
            written = getattr(body, part)
            try:
                parts[part] = scope.resolve(written) if written else written
            except FunctionError as failure:
                found.extend(failure.inside(*self._path(body, part)).diagnostics)
        return parts if len(found) == before else None

    def _path(self, body: ResourceBody, part: str) -> Path:
        return part_path(self.template, body, part)

    def _definition(
        self,
        body: ResourceBody,
        parts: Mapping[str, Any] | None,
        explicit: frozenset[str],
        analysis: StaticAnalysis,
        budget: Budget,
    ) -> Definition | None:
        """Return the definition from its parts; add diagnostics to the analysis."""
        type_, found = self.types.get(body.name), analysis.diagnostics
        if type_ is None or parts is None:
            return None

        path = self._path(body, "properties")
        properties = self._map(body, "properties", parts, found)
        try:
            budget.spend(3 * len(type_.properties))
            checked = check_properties(properties, type_.properties, path)
            budget.count(checked.values)
        except FunctionError as failure:
            found.extend(failure.inside(*path).diagnostics)
            return None
        # An external object exists already, so that its required properties may be missing.
        is_made = parts["external_id"] is None
        found.extend(item for item in checked.findings if is_made or item.code != MISSING)
        analysis.custom_checks = checked.custom_checks or ()
        import_id = parts["import_id"] or None
        if (fault := _import_fault(type_, import_id, is_made=is_made)) is not None:
            found.report("bad-directive", fault, self._path(body, "import_id"))
        policy = self._policy(body, "deletion_policy", parts["deletion_policy"], found)
        replaced = self._policy(body, "update_replace_policy", body.update_replace_policy, found)
        return Definition(
            name=body.name,
            type_name=body.type_name,
            type=type_,
            properties=checked.values,
            dependencies=analysis.dependencies,
            explicit_dependencies=explicit,
            metadata=self._map(body, "metadata", parts, found),
            deletion_policy=policy or DeletionPolicy.DELETE,
            update_policy=self._map(body, "update_policy", parts, found),
            creation_policy=parts["creation_policy"] or {},
            update_replace_policy=replaced,
            description=body.description,
            external_id=parts["external_id"],
            import_id=import_id,
            express=body.express,
            restricted=self.restricted.get(body.name, _NONE),
        )

    def _map(
        self, body: ResourceBody, part: str, parts: Mapping[str, Any], found: Diagnostics
    ) -> Mapping[str, Any]:
        value = parts[part]
        if type(value) is dict or isinstance(value, Mapping):
            return value
        if value is not None and not isinstance(value, Unknown):
            message = f"this is a map, not {kind_of(value)}"
            found.report("bad-shape", message, self._path(body, part))
        return {}

    def _policy(
        self, body: ResourceBody, part: str, written: Any, found: Diagnostics
    ) -> DeletionPolicy | None:
        """Return the written policy for the object, or None."""
        if written is None:
            return None
        policy, faults = deletion_policy(written, self.template.version, self._path(body, part))
        found.extend(faults)
        return policy

    def _explicit(
        self, body: ResourceBody, enabled: Collection[str], found: Diagnostics
    ) -> frozenset[str]:
        if not body.depends_on:
            return _NONE
        path = (*body.path, self.template.version.dialect.depends_on)
        names = [body.depends_on] if isinstance(body.depends_on, str) else body.depends_on
        dependencies = set()
        for index, name in enumerate(names):
            if isinstance(name, str) and name in enabled:
                dependencies.add(name)
            elif not isinstance(name, str) or name not in self.template.resources:
                place = path if names is not body.depends_on else (*path, index)
                message = f'The specified reference "{name}" (in {body.name}) is incorrect'
                near = did_you_mean(str(name), self.template.resources)
                if near is None and isinstance(name, str) and "," in name:
                    near = f"write a list, as [{name}]"
                message = f"{message}: there is no such resource"
                found.report("unknown-resource", message, place, INVALID_REFERENCE, suggestion=near)
        return frozenset(dependencies)


def dependencies_of(analyses: Mapping[str, StaticAnalysis]) -> Dependencies:
    """Return the dependencies of each resource, by reference or by its type."""
    dependencies = Dependencies((name, each.dependencies) for name, each in analyses.items())
    known = [
        analysis.definition for analysis in analyses.values() if analysis.definition is not None
    ]
    if not any(can(type_, DependsImplicitly) for type_ in {each.type for each in known}):
        return dependencies
    # Compare renamed types by their current name.
    neighbours = Neighbours(
        {
            definition.name: (
                definition.type.support.substitute or definition.type.type_name,
                definition.properties,
            )
            for definition in known
        }
    )
    for definition in known:
        if can(definition.type, DependsImplicitly):
            found = definition.type.implicit_dependencies(definition.properties, neighbours)
            dependencies[definition.name] |= found - {definition.name}
    return dependencies
