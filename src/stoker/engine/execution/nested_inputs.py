"""The inputs of nested stacks: what the stack around one gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import Input
from stoker.schema.resource_type import Nested
from stoker.template.definition import Definition
from stoker.template.environment.environment import parse_environment, stored
from stoker.template.evaluate.nested_stacks import inherited
from stoker.template.source.source import accept, read


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
    source = read(template) if isinstance(template, str) else accept(template)
    return Input(
        id=input_id,
        stack_id=child_id,
        template=source.data,
        text=source.text,
        parameters=nested.parameters,
        environment=stored(environment),
        files=own.files,
        template_file=nested.url or own.template_file,
        facade={
            "metadata": dict(definition.metadata),
            "deletion_policy": definition.deletion_policy.value,
            "update_policy": dict(definition.update_policy),
        },
    )
