"""Inputs of nested stacks, derived from the input of their parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.engine.model.records import Input
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.text import dumps
from stoker.schema.resource_type import Nested
from stoker.template.definition import Definition
from stoker.template.document import parse_shared
from stoker.template.environment.environment import parse_environment, stored
from stoker.template.evaluate.nested_stacks import inherited
from stoker.template.source.source import Source, accept, read


def input_of_nested(
    input_id: str,
    child_id: str,
    definition: Definition,
    nested: Nested,
    own: Input,
    template: str | Mapping[str, Any] | None,
) -> Input:
    """Return the input of a nested stack; ``own`` is that of its parent.

    Raises DiagnosticError for a malformed template.
    """
    environment = inherited(parse_environment(own.environment), definition)
    url = nested.url or own.template_file
    source = _source(template, url)
    return Input(
        id=input_id,
        stack_id=child_id,
        template=source.data,
        text=source.text,
        parameters=nested.parameters,
        environment=stored(environment),
        files=own.files,
        template_file=url,
        imports=own.imports,
        facade={
            "metadata": dict(definition.metadata),
            "deletion_policy": definition.deletion_policy.value,
            "update_policy": dict(definition.update_policy),
        },
    )


def equal_inputs(one: Input, other: Input) -> bool:
    """Return True if two inputs have the same contents for a nested stack."""
    if one.text != other.text or one.template_file != other.template_file:
        return False
    if dict(one.files) != dict(other.files):
        return False
    return all(map(_same, _parts(one), _parts(other)))


def _parts(stack_input: Input) -> Iterator[Any]:
    """Return the parts of an input that are compared as they are stored."""
    if stack_input.text is None:
        yield stack_input.template
    yield from (
        stack_input.parameters,
        stack_input.environment,
        stack_input.facade,
        stack_input.imports,
    )


def _same(one: Any, other: Any) -> bool:
    return one is other or _written(one) == _written(other)


def _written(value: Any) -> str:
    return dumps(dict(value) if isinstance(value, Mapping) else value)


def _source(template: str | Mapping[str, Any] | None, url: str | None) -> Source:
    if not isinstance(template, str):
        return accept(template)
    try:
        return parse_shared(template, url).source
    except DiagnosticError:
        return read(template)  # a readable document: the nested stack reports its faults
