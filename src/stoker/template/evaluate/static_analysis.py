"""Static analysis of each resource, before anything exists: references and diagnostics.

Takes the body of a resource and the scope of its template. Produces its dependencies, the
attributes it refers to, diagnostics, and a definition in which references are unknown.

Invariant: the analysis is an evaluation that records every reference and returns an unknown value
for it. So it follows the same branches, names and paths as every later evaluation. An analysis of
an earlier version of the template is reused if everything that it depends on is unchanged.

:class:`stoker.template.evaluate.evaluation.Evaluation` calls it. Tested by tests/language and
tests/operations/test_evaluation_cache.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    Facts,
    TooMuchWorkError,
)
from stoker.template.document import ResourceBody, Template, part_path
from stoker.template.evaluate.policies import deletion_policy
from stoker.template.functions.budget import Budget, check_size, is_small
from stoker.template.functions.failure import FunctionError
from stoker.template.functions.scope import OF_STACK, Facade, ParameterValues, Scope

Attributes = dict[str, set[str]]


class RecordedReferences:
    """Unknown facts that record the references to them."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: Attributes = {}

    def reference(self, name: str) -> Any:
        """Record the reference, and return an unknown value."""
        self.names.add(name)
        return Unknown(frozenset((name,)))

    def attribute(self, name: str, attribute: str) -> Any:
        """Record the reference, and return an unknown value."""
        self.names.add(name)
        self.attributes.setdefault(name, set()).add(attribute)
        return Unknown(frozenset((name,)))


# Resource name, attribute name (None for the reference), and value.
Answer = tuple[str, str | None, Any]


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


@dataclass(slots=True)
class StaticAnalysis:
    """Facts about a resource in advance."""

    # With unknown values for references to others; None if it could not be evaluated.
    definition: Definition | None
    dependencies: frozenset[str]
    attributes: Attributes
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    custom_checks: list[CustomCheck] = field(default_factory=list)
    final: bool = False  # whether the definition has no unknown value, so that it will not change
    # Whether it depends on the identity of the stack, in addition to its template.
    tells_of_stack: bool = False
    # The last definition with facts, and the facts that it used.
    latest: tuple[Definition, Sequence[Answer]] | None = None
    # Faults that the type reports in the definition, once it was asked.
    objections: Sequence[Diagnostic] | None = None
    # Whether the text and the known values are small; None until computed.
    is_small: bool | None = None
    # Entries that resemble calls of functions; None until computed.
    misspelled_functions: Sequence[Diagnostic] | None = None

    @property
    def elsewhere(self) -> StaticAnalysis:
        """Return the analysis for another stack, without results from the facts of this one."""
        return self if self.final else replace(self, latest=None)

    def __del__(self) -> None:
        """Do nothing: a Python method lets other threads run while thousands are freed."""


class Evaluator(Struct, frozen=True):
    """Evaluates the resources of one template."""

    template: Template
    scope: Scope
    types: Mapping[str, ResourceType]
    restricted: Mapping[str, frozenset[str]]  # actions that the environment forbids, by resource

    def analyse(self, body: ResourceBody) -> StaticAnalysis:
        """Analyse a resource."""
        facts, values = RecordedReferences(), self.scope.parameters
        values.tells_of_stack = False
        scope = self.scope.with_facts(facts, self.scope.budget)
        analysis = StaticAnalysis(None, frozenset(), facts.attributes)
        found = analysis.diagnostics
        explicit = self._explicit(body, scope.resources, found)
        parts = self._parts(body, scope, found)
        analysis.dependencies = frozenset(facts.names) | explicit
        definition = self._definition(body, parts, explicit, analysis, scope.budget)
        if definition is not None and not any(d.severity is Severity.ERROR for d in found):
            analysis.definition = definition
            analysis.final = not facts.names or unknown_in(parts) is None
        analysis.tells_of_stack = values.tells_of_stack
        return analysis

    def reusable(
        self,
        earlier: Evaluator,
        analyses: Mapping[str, StaticAnalysis],
        *,
        conditions_tell_of_stack: bool,
    ) -> dict[str, StaticAnalysis]:
        """Return the analyses of an earlier version, or of another stack, that are the same here.

        An analysis depends on the text of the resource, on the types that it refers to, and on
        values that all resources share: if one of those differs, none is reused. A record of the
        values that each resource reads would save more, but double the time of each analysis, and
        need a layer between functions and their scope.
        """
        if not _sees_same(self.scope, earlier.scope, self.template, earlier.template):
            return {}
        section = self.template.version.dialect.resources
        bodies = self.template.data.get(section) or {}
        written = earlier.template.data.get(section) or {}
        types, before = self.scope.resources, earlier.scope.resources
        found = {
            name: analysis
            for name, analysis in analyses.items()
            if name in types
            and not analysis.diagnostics
            and same(bodies[name], written[name])
            and all(
                types.get(n, _ABSENT) is before.get(n, _ABSENT)
                for n in (name, *analysis.dependencies)
            )
            and self.restricted.get(name) == earlier.restricted.get(name)
            and self._needs_no_others(self.template.resources[name], analysis)
        }
        if _are_of_one_stack(self.scope.parameters, earlier.scope.parameters):
            return found
        if conditions_tell_of_stack:
            return {}
        return {
            name: analysis.elsewhere
            for name, analysis in found.items()
            if not analysis.tells_of_stack
        }

    def _needs_no_others(self, body: ResourceBody, analysis: StaticAnalysis) -> bool:
        """Return whether the resources in ``depends_on`` that are enabled now were so before."""
        found = Diagnostics()
        return (
            self._explicit(body, self.scope.resources, found) <= analysis.dependencies and not found
        )

    def require_light(self, body: ResourceBody, analysis: StaticAnalysis) -> None:
        """Raise :class:`TooMuchWorkError` unless a definition looks like little work."""
        if analysis.is_small is None:
            parts = [body.properties, body.metadata, body.update_policy]
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
        if not light and analysis.latest is not None:
            definition, answers = analysis.latest
            if all(same(_ask(facts, name, key), answer) for name, key, answer in answers):
                return definition
        recorded = RecordedFacts(facts)
        scope = self.scope.with_facts(recorded, Budget.light() if light else None)
        found = self._again(body, scope, analysis, light=light)
        if light and scope.budget.used_up:
            raise TooMuchWorkError
        definition = self._checked(found)
        if all(name in analysis.dependencies for name, _, _ in recorded.answers):
            analysis.latest = definition, recorded.answers
        return definition

    def _checked(self, analysis: StaticAnalysis) -> Definition:
        """Return the definition. Raises :class:`DiagnosticError` if there are errors."""
        source = self.template.source
        if analysis.definition is None:
            raise DiagnosticError(source.all_located(analysis.diagnostics))
        errors = analysis.diagnostics.errors
        if errors:
            raise DiagnosticError(source.all_located(errors))
        return analysis.definition

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

        def map_of(part: str) -> Mapping[str, Any]:
            value = parts[part]
            if type(value) is dict or isinstance(value, Mapping):
                return value
            if value is not None and not isinstance(value, Unknown):
                message = f"this is a map, not {kind_of(value)}"
                found.report("bad-shape", message, self._path(body, part))
            return {}

        path = self._path(body, "properties")
        properties = map_of("properties")
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
        analysis.custom_checks.extend(checked.custom_checks)
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
            metadata=map_of("metadata"),
            deletion_policy=policy or DeletionPolicy.DELETE,
            update_policy=map_of("update_policy"),
            creation_policy=parts["creation_policy"] or {},
            update_replace_policy=replaced,
            description=body.description,
            external_id=parts["external_id"],
            import_id=import_id,
            express=body.express,
            restricted=self.restricted.get(body.name, frozenset()),
        )

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


def dependencies_of(analyses: Mapping[str, StaticAnalysis]) -> dict[str, frozenset[str]]:
    """Return the dependencies of each resource, by reference or by its type."""
    dependencies = {name: analysis.dependencies for name, analysis in analyses.items()}
    known = [
        analysis.definition for analysis in analyses.values() if analysis.definition is not None
    ]
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


def _sees_same(scope: Scope, other: Scope, template: Template, before: Template) -> bool:
    """Return whether two scopes have the same values for all resources, facts aside."""
    return (
        scope.version == other.version
        and scope.url == other.url
        and scope.files == other.files
        and same(_specified(scope.parameters), _specified(other.parameters))
        and same(template.conditions, before.conditions)
        and same(scope.mappings, other.mappings)
        and same(_parts_of(scope.facade), _parts_of(other.facade))
        and same(scope.imports.values, other.imports.values)
    )


def _are_of_one_stack(values: ParameterValues, others: ParameterValues) -> bool:
    return all(values.get(name) == others.get(name) for name in OF_STACK)


def _specified(values: ParameterValues) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in OF_STACK}


def _parts_of(facade: Facade | None) -> list[Any]:
    return [] if facade is None else [facade.metadata, facade.deletion_policy, facade.update_policy]
