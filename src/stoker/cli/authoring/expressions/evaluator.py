"""Evaluates expressions against a template with its inputs, or against a running stack."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from stoker.cli.arguments.files import Bundle
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import ORCHESTRATION, Stack, resources_of
from stoker.cli.offline_template import OfflineTemplate
from stoker.kernel.diagnostics import DiagnosticError, did_you_mean
from stoker.kernel.values import replace
from stoker.sandbox.sandbox import Sandbox
from stoker.schema.unknown import Unknown
from stoker.template.definition import Facts
from stoker.template.evaluate.inputs import Identity
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.functions.failure import FunctionError
from stoker.template.source.source import read

# A place in the template, as "resources.server.properties", in place of an expression.
_PLACE = re.compile(r"(parameters|conditions|resources|outputs)((?:\.[^\s.]+)*)")
_HIDDEN = "******"
_NO_VALUE = "(depends on a parameter that is hidden or not given)"


class ExpressionError(Exception):
    """An expression has no value. The text says why."""


class LiveFacts:
    """References and attributes of the resources of a running stack, each read once."""

    def __init__(self, client: Client, stack: Stack) -> None:
        self._client = client
        self._stack = stack
        own = [each for each in resources_of(client, stack) if each.stack_id == stack.id]
        self._ids = {each.name: each.physical_id for each in own}
        self._attributes: dict[tuple[str, str], Any] = {}

    def reference(self, name: str) -> Any:
        """Return the physical id of a resource."""
        return self._ids.get(name) or Unknown(frozenset((name,)))

    def attribute(self, name: str, attribute: str) -> Any:
        """Return the live value of an attribute."""
        if (name, attribute) not in self._attributes:
            query = {"with_attr": attribute}
            answer = self._client.get(ORCHESTRATION, f"{self._stack.path}/resources/{name}", query)
            self._attributes[name, attribute] = answer["resource"]["attributes"].get(attribute)
        return self._attributes[name, attribute]


class Evaluator:
    """Evaluates expressions for one template or stack."""

    def __init__(self, offline: OfflineTemplate, facts: Facts | None = None) -> None:
        """Without ``facts``, references to resources are unknown."""
        self._evaluation = offline.evaluation(None)
        self._facts: Facts = facts or RecordedReferences()
        self._dialect = offline.template.version.dialect

    def names(self) -> dict[str, list[str]]:
        """Return the names that expressions can use, by section."""
        template = self._evaluation.template
        return {
            "parameters": sorted(self._evaluation.parameters),
            "conditions": sorted(template.conditions),
            "resources": sorted(self._evaluation.names),
            "outputs": sorted(template.outputs),
        }

    def functions(self) -> list[str]:
        """Return the names of the functions of the template's version."""
        version = self._evaluation.template.version
        known = version.functions | version.extensions | version.condition_functions
        return sorted(known | version.condition_extensions)

    def value(self, text: str) -> Any:
        """Return the value of an expression. Raises :class:`ExpressionError`."""
        place = _PLACE.fullmatch(text.strip())
        if place is not None:
            section, names = place.groups()
            return _shown(self._at(section, names.split(".")[1:]))
        try:
            expression = read(text).data
        except DiagnosticError as error:
            raise ExpressionError(error.first.message) from None
        return _shown(self._resolved(expression))

    def _resolved(self, expression: Any) -> Any:
        version = self._evaluation.template.version
        decides = version.condition_functions | version.condition_extensions
        is_call = isinstance(expression, Mapping) and len(expression) == 1
        if is_call and next(iter(expression)) in decides - version.functions:
            return self._computed(lambda: self._evaluation.resolved.conditions.holds(expression))
        return self._computed(
            lambda: self._evaluation.scope.with_facts(self._facts).resolve(expression)
        )

    def _computed(self, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except FunctionError as failure:
            raise ExpressionError("\n".join(map(str, failure.diagnostics))) from None

    def _at(self, section: str, names: list[str]) -> Any:
        """Return the value at a place: a section, or an entry of it with a path inside."""
        entries = self.names()[section]
        if not names:
            return {name: self._entry(section, name) for name in entries}
        if names[0] not in entries:
            near = did_you_mean(names[0], entries) or f"there are {', '.join(entries) or 'none'}"
            raise ExpressionError(f'{section} has no "{names[0]}"; {near}')
        value = self._entry(section, names[0])
        for part in names[1:]:
            value = _inside(value, part)
        return value

    def _entry(self, section: str, name: str) -> Any:
        if section == "parameters":
            return self._evaluation.parameters[name]
        if section == "conditions":
            return self._computed(lambda: self._evaluation.resolved.conditions.holds(name))
        if section == "outputs":
            output = next(
                each for each in self._evaluation.outputs(self._facts) if each.name == name
            )
            if output.error is not None:
                raise ExpressionError(output.error)
            body = self._evaluation.template.outputs[name]
            return output.value if output.known else self._resolved(body.value)
        try:
            definition = self._evaluation.definition(name, self._facts)
        except DiagnosticError as error:
            raise ExpressionError(str(error)) from None
        return {
            "type": definition.type_name,
            "properties": definition.properties,
            "metadata": definition.metadata,
            "depends_on": sorted(definition.dependencies),
            "deletion_policy": str(definition.deletion_policy),
        }


def _inside(value: Any, part: str) -> Any:
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Mapping):
        if part in value:
            return value[part]
        near = did_you_mean(part, value) or f"there are {', '.join(map(str, value))}"
        raise ExpressionError(f'there is no "{part}" in it; {near}')
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    raise ExpressionError(f'"{part}" is not in {json.dumps(_shown(value))}')


def _shown(value: Any) -> Any:
    """Return a value as plain data; unknown parts are texts."""
    if isinstance(value, Unknown):
        return str(value) if value.sources else _NO_VALUE
    if isinstance(value, Mapping):
        return {str(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    return value


def evaluator_of_stack(client: Client, stack: Stack, helpers: Sandbox) -> Evaluator:
    """Return an evaluator for a running stack. Raises :class:`DiagnosticError`."""
    found = client.get_exact(ORCHESTRATION, stack.path)["stack"]
    environment = client.get_exact(ORCHESTRATION, f"{stack.path}/environment")
    given = {
        name: value
        for name, value in found["parameters"].items()
        if not name.startswith(("OS::", "AWS::")) and value != _HIDDEN
    }
    template = client.get_exact(ORCHESTRATION, f"{stack.path}/template")
    _drop_hidden_defaults(template, found["parameters"])
    sent = Bundle(
        template=json.dumps(template),
        origin=stack.name,
        environment_files=("environment",),
        files={
            **client.get_exact(ORCHESTRATION, f"{stack.path}/files"),
            "environment": json.dumps({**environment, "parameters": given}),
        },
    )
    offline = OfflineTemplate.of(sent, {}, helpers)
    identity = Identity(stack.name, stack.id, found["parameters"].get("OS::project_id", ""))
    inputs = replace(offline.inputs, identity=identity)
    return Evaluator(replace(offline, inputs=inputs), LiveFacts(client, stack))


def _drop_hidden_defaults(template: Any, values: Mapping[str, Any]) -> None:
    """Remove the defaults of hidden parameters, since the stack may have other values."""
    for section in ("parameters", "Parameters"):
        for name, declared in (template.get(section) or {}).items():
            if values.get(name) == _HIDDEN:
                declared.pop("default", None)
                declared.pop("Default", None)
