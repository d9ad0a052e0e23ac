"""Resolves resource types: built in, or a template used as a type.

The parameters of the template are the properties of the type, its outputs are the attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stoker.kernel.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    did_you_mean,
    refusal,
)
from stoker.kernel.lazy import lazy
from stoker.kernel.values import replace
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import (
    Nested,
    NestingCall,
    NestingType,
    ResourceType,
    has_attribute,
)
from stoker.template.definition import TypeRegistry
from stoker.template.document import ResourceBody, Template, parse_shared
from stoker.template.environment.registry import (
    STANDS_FOR,
    Entry,
    Meaning,
    ResourceRegistry,
    without_entry,
)
from stoker.template.environment.single_resources import Marks, hooks_in, restricted_actions_in
from stoker.template.evaluate.inputs import Inputs, changed_defaults, find_same_types
from stoker.template.functions.references import MEMBER
from stoker.template.parameters.declarations import declare
from stoker.template.parameters.parameters import Parameter, ParameterType
from stoker.template.source.source import find_file

# An output of this name is the value of ``get_resource`` for the resource.
STACK_ID = "OS::stack_id"
_WEB = ("http://", "https://")
_TYPES = {
    ParameterType.STRING: Type.STRING,
    ParameterType.NUMBER: Type.NUMBER,
    ParameterType.LIST: Type.LIST,
    ParameterType.JSON: Type.MAP,
    ParameterType.BOOLEAN: Type.BOOLEAN,
}


class MissingTemplateError(DiagnosticError):
    """The template at a URL was not sent with the request."""

    def __init__(self, address: str, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.address = address


class TemplateType(NestingType):
    """A type defined by a template. Each object of this class is a type."""

    # Not a new class for each template. A class refers to itself, so that only a garbage collection
    # could free it, together with its template.

    # The same in rows of all such types: another template is an update, not a replacement.
    implementation: ClassVar[str] = "template"

    def __init__(
        self,
        type_name: str,
        template: Template,
        meaning: Meaning,
        inner: TypeResolver,
        properties: Mapping[str, Property],
    ) -> None:
        """``inner`` finds the types of the resources of the template."""
        self.template = template
        self.inner = inner
        # A registry entry makes the type stand for the template, unless its name is the template.
        self.entry = meaning.entry
        outputs = template.outputs.items()
        # Other types declare these for the class.
        vars(self).update(
            type_name=type_name,
            description=str(template.description),
            properties=properties,
            attributes={name: Attribute(str(body.description or "")) for name, body in outputs},
        )

    @property
    def url(self) -> str:
        """Return the file of the template."""
        assert self.inner.url is not None
        return self.inner.url

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack: the template, with the properties as parameters."""
        parameters = {
            name: _as_members(value) if self.properties[name].type is Type.LIST else value
            for name, value in call.properties.items()
            if value is not None
        }
        return Nested(self.template.source.text or self.template.data, parameters, self.url)

    def has_attribute(self, name: str) -> bool:
        """Return whether the nested stack has such an output, or such a resource."""
        if name == STACK_ID:
            return True
        if not name.startswith(MEMBER):
            return False
        member, _, attribute = name.removeprefix(MEMBER).partition(".")
        body = self.template.resources.get(member)
        if body is None or not attribute:
            return body is not None
        try:
            return has_attribute(self.inner.type_of(body), attribute)
        except DiagnosticError:
            return False


def _as_members(entries: Any) -> Any:
    """Return a list in the form of a parameter: texts, with maps flattened member by member."""
    if not isinstance(entries, list):
        return entries
    if entries and all(isinstance(entry, Mapping) for entry in entries):
        return [
            f".member.{number}.{key}={value}"
            for number, entry in enumerate(entries)
            for key, value in entry.items()
        ]
    return ["" if entry is None else entry for entry in entries]


def template_type(
    type_name: str, template: Template, meaning: Meaning, inner: TypeResolver, inputs: Inputs
) -> TemplateType:
    """Return the type that a template defines in a stack with these inputs.

    Raises :class:`DiagnosticError`.
    """
    diagnostics = Diagnostics()
    budget = inputs.budget.patterns
    defaults = inputs.parameter_defaults
    declared = declare(template.parameters, template.version, diagnostics, budget, defaults)
    diagnostics.raise_errors()
    properties = {
        name: _property(parameter, has_default=name in defaults)
        for name, parameter in declared.items()
    }
    return TemplateType(type_name, template, meaning, inner, properties)


def _property(parameter: Parameter, *, has_default: bool) -> Property:
    return Property(
        _TYPES[parameter.type],
        parameter.description,
        required=parameter.default is None and not has_default,
        update_allowed=True,
        constraints=parameter.constraints,
        convert=True,
        sensitive=parameter.hidden,
    )


# By type name, file and the registry entry with the file.
_TemplateTypes = dict[tuple[str, str, Entry | None], TemplateType]


class TypeResolver:
    """Finds the types of the resources of one stack: built in, or defined by templates."""

    def __init__(self, inputs: Inputs, types: TypeRegistry) -> None:
        self._inputs = inputs
        self._types = types
        overrides = inputs.environment.resource_registry.get("resources")
        self._overridden = overrides if isinstance(overrides, Mapping) else {}
        self._known: dict[str, ResourceType] = {}
        self._made: _TemplateTypes = {}
        self._unchanged: _TemplateTypes = {}

    def at(self, inputs: Inputs) -> TypeResolver:
        """Return a resolver for other inputs of the same stack, or of another one.

        A type that means the same remains the same object, so that analyses can be reused.
        """
        found = TypeResolver(inputs, self._types)
        if not find_same_types(self._inputs, inputs):
            return found
        changed = changed_defaults(self._inputs, inputs)
        found.registry, found.hooks = self.registry, self.hooks
        found._unchanged = {
            key: type_
            for key, type_ in self._made.copy().items()  # another thread may add types
            if changed.isdisjoint(type_.properties)
        }
        return found

    @lazy
    def registry(self) -> ResourceRegistry:
        """The registry that gives type names a meaning."""
        inputs = self._inputs
        return ResourceRegistry(
            inputs.environment.resource_registry,
            self._types,
            inputs.files,
            inputs.service_environment.resource_registry,
        )

    def type_of(self, body: ResourceBody) -> ResourceType:
        """Return a resource's type. Raises :class:`DiagnosticError`; paths start at the type."""
        if body.name in self._overridden:
            return self._resolve(body.type_name, body.name)
        known = self._known.get(body.type_name)
        if known is None:
            known = self._resolve(body.type_name, body.name)
            self._known[body.type_name] = known
        return known

    def is_built_in_nesting(self, type_name: str) -> bool:
        """Return whether a built-in type of that name makes nested stacks."""
        return isinstance(self._types.find(type_name), NestingType)

    @property
    def url(self) -> str | None:
        """Return the file of the template whose resources these are."""
        return self._inputs.url

    @lazy
    def hooks(self) -> Marks:
        """The hooks of all resources."""
        registry = self._inputs.environment.resource_registry
        return hooks_in(registry, self._inputs.service_environment.resource_registry)

    def restricted(self, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the restricted actions of resources that have any."""
        marks = restricted_actions_in(
            self._inputs.environment.resource_registry,
            self._inputs.service_environment.resource_registry,
        )
        found = {name: marks.of(name) for name in names} if marks else {}
        return {name: actions for name, actions in found.items() if actions}

    def find(self, name: str) -> str:
        """Return the full name of a template's file.

        Raises :class:`DiagnosticError` for a missing file, :class:`MissingTemplateError` if it
        could be fetched.
        """
        inputs = self._inputs
        url = find_file(name, inputs.files, inputs.url)
        if url is not None:
            return url
        if name in inputs.unreachable:
            raise refusal("unreachable-file", inputs.unreachable[name])
        if name.startswith(_WEB):
            message = f'the template "{name}" is fetched when a stack is created from it'
            raise MissingTemplateError(name, refusal("unfetched-file", message).diagnostics)
        message = f'the template "{name}" is missing: the request must include it under "files"'
        raise refusal("unknown-file", message, suggestion=did_you_mean(name, inputs.files))

    def _resolve(self, type_name: str, resource_name: str) -> ResourceType:
        meaning = self.registry.meaning(type_name, resource_name)
        if meaning.type is not None:
            return meaning.type
        type_ = self._from_template(type_name, meaning)
        facade = self._facade(type_name, resource_name, meaning)
        if facade is not None:
            _check_facade(type_, facade)
        return type_

    def _facade(self, name: str, resource_name: str, meaning: Meaning) -> ResourceType | None:
        """Return the meaning of the name without the mapping to the template."""
        if meaning.entry is None or name in STANDS_FOR:
            return None
        try:
            facade = self.registry.meaning_without(meaning.entry, name, resource_name)
            if facade is None:
                return None
            return facade.type or self._from_template(name, facade)
        except DiagnosticError:
            return None

    def _from_template(self, type_name: str, meaning: Meaning) -> TemplateType:
        assert meaning.template is not None
        url = self.find(meaning.template)
        key = (type_name, url, meaning.entry)
        known = self._made.get(key)
        if known is not None:
            return known
        template = parse_shared(self._inputs.files[url], url)
        self._inputs.budget.nested -= template.size
        known = self._unchanged.get(key)
        if known is None or known.template is not template:
            environment = self._inputs.environment
            registry = without_entry(environment.resource_registry, meaning.entry)
            environment = replace(environment, resource_registry=registry)
            inner = TypeResolver(
                replace(self._inputs, url=url, environment=environment), self._types
            )
            known = template_type(type_name, template, meaning, inner, self._inputs)
        self._made[key] = known
        return known


def _check_facade(type_: TemplateType, facade: ResourceType) -> None:
    """Check that a template in the place of a type has its parameters and outputs.

    The messages are those of Heat.
    """
    name, found = type_.type_name, []
    for key, declared in facade.properties.items():
        own = type_.properties.get(key)
        if own is None and declared.required:
            found.append(f"Required property {key} for facade {name} missing in provider")
        elif own is not None and not _fits(declared.type, own.type):
            mismatch = f"{declared.type.title()}) and provider ({own.type.title()}"
            found.append(f"Property {key} type mismatch between facade {name} ({mismatch})")
    found += [
        f"Provider requires property {key} unknown in facade {name}"
        for key, own in type_.properties.items()
        if key not in facade.properties and own.required
    ]
    found += [
        f"Attribute {key} for facade {name} missing in provider"
        for key in facade.attributes
        if not has_attribute(type_, key)
    ]
    if found:
        raise DiagnosticError(
            Diagnostic("facade-mismatch", message, file=type_.url) for message in found
        )


def _fits(declared: Type, own: Type) -> bool:
    return declared in (own, Type.ANY) or {declared, own} == {Type.INTEGER, Type.NUMBER}
