"""The inputs of nested stacks: what the stack around one gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import Input
from stoker.kernel.diagnostics import DiagnosticError
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
    """The input of a nested stack; ``own`` is that of the stack around it.

    Raises DiagnosticError for a text that cannot be read.
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


def _source(template: str | Mapping[str, Any] | None, url: str | None) -> Source:
    if not isinstance(template, str):
        return accept(template)
    try:
        return parse_shared(template, url).source
    except DiagnosticError:
        return read(template)  # a document all the same: the nested stack tells what is wrong
