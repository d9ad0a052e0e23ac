"""Hovers: the meaning of the word at an offset, in Markdown."""

from __future__ import annotations

from lsprotocol import types

from stoker.cli.authoring.language_server.contexts import Context, context_of
from stoker.cli.authoring.language_server.descriptions import (
    describe_attribute,
    describe_function,
    describe_parameter,
    describe_property,
    describe_type,
    shown_value,
)
from stoker.cli.authoring.language_server.documents import Document, Kind
from stoker.cli.authoring.language_server.known_values import (
    condition_value,
    expression_value,
    parameter_value,
)
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.models import Models
from stoker.cli.authoring.language_server.symbols.index import Index
from stoker.cli.authoring.language_server.symbols.occurrences import Kind as NameKind
from stoker.cli.authoring.language_server.symbols.occurrences import Occurrence
from stoker.cli.authoring.language_server.syntax.nodes import (
    Scalar,
    Step,
    function_of,
    steps_to,
)
from stoker.kernel.diagnostics import Path
from stoker.schema.resource_type import has_attribute


def hover(document: Document, offset: int, models: Models, index: Index) -> types.Hover | None:
    """Return the description of the word at an offset."""
    steps = steps_to(document.tree, offset)
    if not steps or document.kind is Kind.OTHER:
        return None
    model, step = models.of(document), steps[-1]
    text = _text(model, step, steps, offset, models, index)
    if not text or not isinstance(step.node, Scalar):
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, document.text.range(step.node.start, step.node.end))


def _text(
    model: Model, step: Step, steps: list[Step], offset: int, models: Models, index: Index
) -> str:
    name = index.at(model.document, offset)
    if name is not None and not _is_property(model, name, step):
        return _named(name, model, models)
    if model.document.kind is Kind.ENVIRONMENT:
        type_ = model.known_types.find(str(step.path[-1])) if step.path else None
        return "" if type_ is None else describe_type(type_)
    context = context_of(model, step.path)
    if step.is_key:
        return _key(model, context, step)
    if context.section == "resources" and context.part == "type" and not context.rest:
        return "" if context.type is None else describe_type(context.type)
    attribute = _attribute(model, context, steps)
    if attribute:
        return attribute
    function = function_of(step.node)
    if function is not None:
        return _call(model, function, step.path)
    return ""


def _is_property(model: Model, name: Occurrence, step: Step) -> bool:
    """Return whether a name is written as a property of a nested template."""
    return step.is_key and name.owner != model.document.path and len(step.path) > 3


def _key(model: Model, context: Context, step: Step) -> str:
    key = str(step.path[-1])
    if context.function == key and not context.arguments:
        return _call(model, key, step.path)
    if context.declared is not None and not context.function:
        return describe_property(key, context.declared)
    if context.function and not context.arguments:
        return _call(model, context.function, step.path)
    return ""


def _call(model: Model, function: str, path: Path) -> str:
    parts = [describe_function(function, model.version)]
    value = expression_value(model, path[:-1] if path and path[-1] == function else path)
    if value is not None:
        parts.append(f"Value: `{shown_value(value)}`")
    return "\n\n".join(parts)


def _attribute(model: Model, context: Context, steps: list[Step]) -> str:
    if context.function not in ("get_attr", "Fn::GetAtt") or context.arguments != (1,):
        return ""
    value = model.data_at(steps[-1].path[:-1])
    if not isinstance(value, list) or len(value) < 2 or not isinstance(value[0], str):
        return ""
    type_, name = model.type_of(value[0]), value[1]
    if type_ is None or not isinstance(name, str) or not has_attribute(type_, name):
        return ""
    declared = type_.attributes.get(name)
    return "" if declared is None else describe_attribute(name, declared)


def _named(name: Occurrence, model: Model, models: Models) -> str:
    owner = models.at(name.owner)
    if owner is None:
        return ""
    match name.kind:
        case NameKind.PARAMETER:
            return _parameter(owner, name.name)
        case NameKind.RESOURCE:
            type_ = owner.type_of(name.name)
            kind = owner.type_name(name.name) or ""
            head = f"**{name.name}** (resource of type {kind})"
            return head if type_ is None else f"{head}\n\n{type_.description}"
        case NameKind.CONDITION:
            holds = condition_value(owner, name.name)
            known = "" if holds is None else f"\n\nValue: `{'true' if holds else 'false'}`"
            return f"**{name.name}** (condition){known}"
        case NameKind.OUTPUT:
            body = owner.section(owner.dialect.outputs).get(name.name)
            text = body.get(owner.dialect.description) if isinstance(body, dict) else ""
            return f"**{name.name}** (output)\n\n{text or ''}".strip()
    return f"**{name.name}** ({name.kind})"


def _parameter(owner: Model, name: str) -> str:
    declared = owner.parameters.get(name)
    if declared is None:
        return f"**{name}** (parameter)"
    text = describe_parameter(declared)
    value = parameter_value(owner, name)
    if value is None or declared.hidden or value == declared.default:
        return text
    return f"{text}\n\nValue: `{shown_value(value)}`"
