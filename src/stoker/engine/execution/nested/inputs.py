"""Inputs of nested stacks, derived from the input of their parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.model.records import Input
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.text import dumps, encode
from stoker.kernel.json.tree import same
from stoker.schema.resource_type import Nested
from stoker.template.definition import Definition
from stoker.template.document import parse_shared
from stoker.template.environment.environment import parse_environment, stored
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.nested_stacks import inherited
from stoker.template.evaluate.shared_inputs import nested_uses_any
from stoker.template.source.source import Source, accept, read

_DEFAULTS = "parameter_defaults"


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


class _Difference(Struct, frozen=True):
    """The shared contents of a tree that differ between two inputs of a nested stack."""

    defaults: frozenset[str] = frozenset()  # names of parameters
    files: frozenset[str] = frozenset()


_NO_DIFFERENCE = _Difference()


def _difference(one: Input, other: Input) -> _Difference | None:
    """Return the shared contents that differ; None if anything else does."""
    if one.text != other.text or one.template_file != other.template_file:
        return None
    if not all(map(_same, _parts(one), _parts(other))):
        return None
    defaults = (each.environment.get(_DEFAULTS) or {} for each in (one, other))
    return _Difference(_changed(*defaults), _changed(one.files, other.files))


def have_same_effect(one: Input, other: Input, evaluation: Evaluation, name: str) -> bool:
    """Return True if the nested stack of a resource would be the same with either input.

    ``evaluation`` is that of its parent.
    """
    found = _difference(one, other)
    if found is None or found == _NO_DIFFERENCE:
        return found is not None
    return not nested_uses_any(evaluation, name, found.defaults, found.files)


def equal_inputs(one: Input, other: Input) -> bool:
    """Return True if two inputs have the same contents for a nested stack."""
    return _difference(one, other) == _NO_DIFFERENCE


def _parts(stack_input: Input) -> Iterator[Any]:
    """Return the parts of an input that are compared as they are stored."""
    if stack_input.text is None:
        yield stack_input.template
    environment = stack_input.environment
    yield from (
        stack_input.parameters,
        {name: section for name, section in environment.items() if name != _DEFAULTS},
        stack_input.facade,
        stack_input.imports,
    )


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of entries that differ, or that only one of the maps has."""
    if one is other:
        return frozenset()
    in_both = one.keys() & other.keys()
    differing = {name for name in in_both if not same(one[name], other[name])}
    return frozenset(differing | (one.keys() ^ other.keys()))


def _same(one: Any, other: Any) -> bool:
    """Return True if two values are written alike. Python treats 1, 1.0 and True as equal."""
    if one is other:
        return True
    # Equal values are the usual case, in which this takes a tenth of the time of `dumps`.
    write = encode if one == other else dumps
    return write(_plain(one)) == write(_plain(other))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _source(template: str | Mapping[str, Any] | None, url: str | None) -> Source:
    if not isinstance(template, str):
        return accept(template)
    try:
        return parse_shared(template, url).source
    except DiagnosticError:
        return read(template)  # a readable document: the nested stack reports its faults
