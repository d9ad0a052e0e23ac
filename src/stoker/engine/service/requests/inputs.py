"""Turns a request into an input. With ``existing``, it is merged with the stack's input."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.engine.model.records import Input
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.stack_records.adoption import invalid_document, recorded_resources, section
from stoker.engine.planning.evaluations import Documents
from stoker.kernel.diagnostics import DiagnosticError, Diagnostics
from stoker.kernel.errors import BAD_REQUEST, ValidationError
from stoker.kernel.values import replace
from stoker.template.document import Template, parse, read_template, with_version
from stoker.template.environment.environment import Environment, parse_environment, stored
from stoker.template.environment.files import environment_of
from stoker.template.parameters.declarations import declare
from stoker.template.source.source import Source, accept, read


def input_of(
    input_id: str,
    stack_id: str,
    request: StackRequest,
    old: Input | None = None,
    known: Template | None = None,
) -> tuple[Input, Documents]:
    """Return the input of a request and its documents; with ``existing``, it keeps old values.

    ``known`` is the present template of the stack, which is not parsed again if it is the same.

    Raises :class:`stoker.kernel.errors.ValidationError` if there is no template, and
    DiagnosticError for invalid documents.
    """
    if known is not None and _is_same(request, known):
        template, source = known, known.source
    else:
        source = _source(request, old)
        template = parse(source)
    names = list(request.environment_files)
    over = old is not None and request.existing
    declared = (
        declare(template.parameters, template.version, Diagnostics()) if names or over else {}
    )
    environment = environment_of(request.environment, names, request.files, declared)
    stack_input = Input(
        id=input_id,
        stack_id=stack_id,
        template=source.data,
        text=source.text,
        parameters=dict(request.parameters),
        environment={},
        files=dict(request.files),
        template_file=source.file,
    )
    if old is not None and over:
        stack_input, environment = _over(old, stack_input, environment, request.clear_parameters)
        stack_input, environment = _restricted(stack_input, environment, declared)
    stack_input = replace(stack_input, environment=stored(environment))
    if names or over:
        # Documents that are valid on their own may be invalid when merged.
        parse_environment(stack_input.environment)
    return stack_input, Documents(template, environment)


def _is_same(request: StackRequest, known: Template) -> bool:
    """Return whether a request has the text of the known template.

    Loops are written out in a known template, so one that may have loops is parsed.
    """
    if known.transforms or request.version_optional:
        return False
    source = known.source
    return request.template_file == source.file and (
        isinstance(request.template, str) and request.template == source.text
    )


def _source(request: StackRequest, old: Input | None) -> Source:
    """Return the template of the request, or else that of the stack."""
    if request.template is None:
        if old is None or not request.existing:
            raise ValidationError("No template specified", BAD_REQUEST)
        return Source(old.template, old.text, old.template_file)
    source = read_template(request.template, request.template_file)
    return with_version(source) if request.version_optional else source


def _over(
    old: Input, stack_input: Input, environment: Environment, clear: Collection[str]
) -> tuple[Input, Environment]:
    """Merge the new input into the old one, without the old parameters to clear.

    Newer values win: a value in the new environment replaces an old parameter of the request.
    """
    gone = {*clear, *environment.parameters}
    remaining = {name: value for name, value in old.parameters.items() if name not in gone}
    whole = replace(
        stack_input,
        parameters={**remaining, **stack_input.parameters},
        files={**old.files, **stack_input.files},
    )
    return whole, _environment_over(parse_environment(old.environment), environment, clear)


def _environment_over(
    before: Environment, newer: Environment, clear: Collection[str]
) -> Environment:
    """Merge the new environment into the old one, section by section."""
    remaining = {name: value for name, value in before.parameters.items() if name not in clear}
    registry = {**before.resource_registry, **newer.resource_registry}
    inner = {
        **(before.resource_registry.get("resources") or {}),
        **(newer.resource_registry.get("resources") or {}),
    }
    return replace(
        before,
        parameters={**remaining, **newer.parameters},
        parameter_defaults={**before.parameter_defaults, **newer.parameter_defaults},
        resource_registry={**registry, "resources": inner},
        event_sinks=newer.event_sinks or before.event_sinks,
        encrypted_param_names=tuple(
            dict.fromkeys((*before.encrypted_param_names, *newer.encrypted_param_names))
        ),
    )


def _restricted(
    stack_input: Input, environment: Environment, declared: Collection[str]
) -> tuple[Input, Environment]:
    """Drop values of parameters that the template does not declare.

    A client that keeps the old values cannot know which of them a new template still declares.
    """
    parameters = {k: v for k, v in stack_input.parameters.items() if k in declared}
    inner = {k: v for k, v in environment.parameters.items() if k in declared}
    return replace(stack_input, parameters=parameters), replace(environment, parameters=inner)


def input_of_document(stack_id: str, text: str) -> tuple[Input, tuple[str, ...]]:
    """Return the input and objects in the document of a stack, and its tags.

    Raises :class:`stoker.kernel.errors.ValidationError` (400) for other documents.
    """
    try:
        document = read(text).data
    except DiagnosticError as error:
        raise invalid_document(str(error.first)) from None
    if not isinstance(document, Mapping) or "template" not in document:
        raise invalid_document("it has no template")
    files = section(document, "files")
    if not all(isinstance(text, str) for text in files.values()):
        raise invalid_document("its files are not texts by name")
    tags = document.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise invalid_document("its tags are not a list of texts")
    template = document["template"]
    source = read(template) if isinstance(template, str) else accept(template)
    stack_input = Input(
        id="",
        stack_id=stack_id,
        template=source.data,
        text=source.text,
        environment=section(document, "environment"),
        files=files,
        adopted=recorded_resources(document),
    )
    return stack_input, tuple(tags)
