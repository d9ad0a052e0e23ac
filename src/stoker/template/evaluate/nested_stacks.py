"""Nested stacks before they exist, as far as the parent template determines them.

Takes the definition of a resource and the inputs of its template. Produces the template and the
inputs of its nested stack, or None while they depend on missing values. Evaluations call it for
each resource, so that plans and diagnostics cover the whole tree.
Tested by tests/groups, tests/operations/test_previews.py and tests/bad_input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path, refusal
from stoker.kernel.errors import VALIDATION_FAILED
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    GathersAttributes,
    MakesStack,
    Nested,
    NestingCall,
    NestingType,
    ResourceType,
    can,
)
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition
from stoker.template.document import Template, parse_nested, parse_shared
from stoker.template.environment.environment import Environment, child_environment
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.evaluate.policies import policy_in_force
from stoker.template.evaluate.type_resolver import TemplateType, TypeResolver
from stoker.template.functions.scope import Facade
from stoker.template.versions import CFN, HOT

_MOST_PLACES = 3  # nested stacks that a message names
# In place of a file name: a template that a type generates, as Heat names it.
_GENERATED = "nested_stack"

# Returns the referenced attributes by resource.
UsedAttributes = Callable[[], Mapping[str, frozenset[str]]]


def nested_in(
    definition: Definition,
    inputs: Inputs,
    resolver: TypeResolver,
    attributes_used: UsedAttributes,
) -> tuple[Template, Inputs] | None:
    """Return template and inputs of the nested stack of a resource; None if not known yet.

    ``inputs`` are those of the parent. Raises :class:`DiagnosticError`.
    """
    nested = preliminary_nested(definition, inputs.identity, attributes_used)
    if nested is None:
        return None
    if inputs.depth >= inputs.max_depth:
        message = (
            f"Recursion depth exceeds {inputs.max_depth}. Templates are nested deeper than"
            f" {inputs.max_depth} levels"
        )
        raise refusal("nested-too-deep", message)
    own = inputs.identity
    identity = replace(own, stack_name=f"{own.stack_name}-{definition.name}", arn=None)
    template = _counted(_template(definition, nested, inputs, resolver), inputs)
    return template, child_inputs(inputs, definition, nested, identity)


def _template(
    definition: Definition, nested: Nested, inputs: Inputs, resolver: TypeResolver
) -> Template:
    if isinstance(definition.type, TemplateType):
        return definition.type.template
    if isinstance(nested.template, Mapping):
        return parse_nested(nested.template, nested.url)
    text, url = nested.template, nested.url
    if text is None and url is not None:
        url = resolver.find(url)
        text = inputs.files[url]
    assert text is not None
    return _parsed(text, url, inputs)


def _parsed(text: str, url: str | None, inputs: Inputs) -> Template:
    # Count before parsing. A value of a document has at least a few characters.
    inputs.budget.nest(len(text) // 16)
    return parse_shared(text, url)


def _counted(template: Template, inputs: Inputs) -> Template:
    # Count each use, also of a shared template: every nested stack is analysed on its own.
    inputs.budget.nest(template.size + 30 * len(template.resources) + 50)
    return template


def diagnostic_in(diagnostic: Diagnostic, path: Path) -> Diagnostic:
    """Return a diagnostic about a nested document at its resource, if it has no file of its own."""
    if diagnostic.file is None:
        diagnostic = replace(diagnostic, path=(*path, *diagnostic.path))
    return replace(diagnostic, error_type=VALIDATION_FAILED)


def found_in_nested(
    diagnostic: Diagnostic, type_: NestingType, resource: Path, properties: str
) -> Diagnostic:
    """Return a diagnostic about the nested stack of a resource, at the cause in the resource.

    ``properties`` is the key of a resource's properties.
    """
    written = None if diagnostic.file is not None else type_.written_at(diagnostic.path)
    if written is not None:
        diagnostic = replace(diagnostic, path=(properties, *written))
    elif diagnostic.file is not None:
        document = type_.url if isinstance(type_, TemplateType) else _GENERATED
        above = (f"{resource[-1]}<{document}>", *diagnostic.above)
        diagnostic = replace(diagnostic, above=above)
    return diagnostic_in(diagnostic, resource)


def child_inputs(
    parent: Inputs, definition: Definition, nested: Nested, identity: Identity
) -> Inputs:
    """Return the inputs of the nested stack of a resource."""
    return replace(
        parent,
        identity=identity,
        environment=inherited(parent.environment, definition),
        parameters=nested.parameters,
        facade=Facade(
            definition.metadata, definition.deletion_policy.value, definition.update_policy
        ),
        depth=parent.depth + 1,
        url=nested.url or parent.url,
    )


def separate_in(definition: Definition, inputs: Inputs) -> tuple[Template, Inputs] | None:
    """Return template and inputs of a stack that a resource creates elsewhere; None if not known.

    ``inputs`` are those of the parent. Raises :class:`DiagnosticError`.
    """
    type_ = definition.type
    text_and_parameters = type_.made_from(definition.properties) if can(type_, MakesStack) else None
    if text_and_parameters is None or inputs.depth >= inputs.max_depth:
        return None
    text, parameters = text_and_parameters
    file = next((name for name, content in inputs.files.items() if content == text), None)
    return _counted(_parsed(text, file, inputs), inputs), replace(
        inputs,
        identity=Identity(project_id=inputs.identity.project_id, region=inputs.identity.region),
        environment=inherited(inputs.environment, definition),
        parameters=parameters,
        facade=Facade(),
        depth=inputs.depth + 1,
        url=None,
    )


def found_in_separate(diagnostic: Diagnostic, properties: Path) -> Diagnostic:
    """Return a diagnostic about a stack elsewhere, at the place where it can be fixed.

    ``properties`` leads to the properties of the resource. Lines are those of a file: a template
    that is the value of a property has none.
    """
    section, *name = diagnostic.path or ("",)
    if diagnostic.code == "unknown-parameter" and section in (HOT.parameters, CFN.parameters):
        property_path = (*properties, "parameters", *name)
        return replace(
            diagnostic, path=property_path, file=None, position=None, error_type=VALIDATION_FAILED
        )
    if diagnostic.position is not None and diagnostic.position.file is None:
        diagnostic = replace(diagnostic, position=None)
    return diagnostic_in(diagnostic, (*properties, "template"))


def inherited(environment: Environment, definition: Definition) -> Environment:
    """Return the environment of a resource's nested stack, inherited from the parent."""
    type_ = definition.type
    entry = type_.entry if isinstance(type_, TemplateType) else None
    return child_environment(environment, definition.name, {}, entry)


def without_repetitions(type_: ResourceType, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics about nested stacks; members of a group are alike, so one is enough."""
    if not can(type_, GathersAttributes):
        return list(found)
    distinct: dict[tuple[Any, ...], Diagnostic] = {}
    for diagnostic in found:
        section, *place = diagnostic.path or ("",)
        same = place[:1] if section == "outputs" else place[1:]
        distinct.setdefault((diagnostic.code, diagnostic.file, section, *same), diagnostic)
    return list(distinct.values())


def with_places(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics about nested stacks with the resources of these stacks in the message.

    A fault of a file that several nested stacks use is returned once, with all of them.
    """
    alike: dict[tuple[Any, ...], list[Diagnostic]] = {}
    for diagnostic in found:
        key = (diagnostic.file, diagnostic.path, diagnostic.message)
        alike.setdefault(key, []).append(diagnostic)
    return [_placed(group) for group in alike.values()]


def _placed(alike: Sequence[Diagnostic]) -> Diagnostic:
    first = alike[0]
    places = ["/".join(part.split("<")[0] for part in each.above) for each in alike if each.above]
    if not places:
        return first
    named = ", ".join(places[:_MOST_PLACES])
    if len(places) > _MOST_PLACES:
        named = f"{named} and {len(places) - _MOST_PLACES} more"
    return replace(first, message=f"{first.message}, in {named}")


def is_foreseen(definition: Definition) -> bool:
    """Return whether the nested stack of a resource is known, apart from some values."""
    type_ = definition.type
    if isinstance(type_, TemplateType) or unknown_in(definition.properties) is None:
        return True
    return isinstance(type_, NestingType) and type_.foresees(definition.properties)


def preliminary_nested(
    definition: Definition,
    identity: Identity,
    attributes_used: UsedAttributes = dict,
) -> Nested | None:
    """Return the nested stack of a resource before anything exists; None if not known yet."""
    type_ = definition.type
    if not isinstance(type_, NestingType) or not is_foreseen(definition):
        return None
    used: frozenset[str] = frozenset()
    if can(type_, GathersAttributes):
        used = attributes_used().get(definition.name, used)
    policy: Mapping[str, Any] = {}
    with suppress(DiagnosticError):  # It is reported where the policy is checked.
        policy = policy_in_force(definition)
    return type_.nested(
        NestingCall(
            definition.name,
            identity.stack_id,
            definition.properties,
            attributes_used=used,
            update_policy=policy,
        )
    )
