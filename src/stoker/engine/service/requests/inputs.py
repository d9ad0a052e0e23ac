"""Turns a request into an input. With ``existing``, it is merged with the stack's input."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.engine.model.records import Input
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.stack_records.adoption import invalid_document, recorded_resources, section
from stoker.engine.planning.evaluations import Documents
from stoker.kernel.diagnostics import DiagnosticError, Diagnostics
from stoker.kernel.errors import BAD_REQUEST, ValidationError
from stoker.kernel.json.content import Content
from stoker.kernel.values import replace
from stoker.template.document import Template, parse, read_template, with_version
from stoker.template.environment.environment import Environment, parse_environment, stored
from stoker.template.environment.files import environment_of
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.parameters.declarations import declare
from stoker.template.revision import revised
from stoker.template.source.source import Source, accept, read


def input_of(
    input_id: str,
    stack_id: str,
    request: StackRequest,
    old: Input | None = None,
    earlier: Evaluation | None = None,
) -> tuple[Input, Documents]:
    """Return the input of a request and its documents; with ``existing``, it keeps old values.

    ``earlier`` is the present evaluation of the stack, or one of another stack of the same
    template: the same parts are not read again.

    Raises :class:`stoker.kernel.errors.ValidationError` if there is no template, and
    DiagnosticError for invalid documents.
    """
    template = _template(request, old, None if earlier is None else earlier.template)
    source = template.source
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
        files=_files(request, earlier),
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


def _template(request: StackRequest, old: Input | None, known: Template | None) -> Template:
    """Return the template of a request; it shares unchanged parts with the known one.

    Loops are written out in a known template, so one that may have loops is parsed.
    """
    if known is not None and request.template is not None and not request.version_optional:
        found = revised(known, request.template, request.template_file)
        if found is not None:
            return found if found is known else _storable(found)
    return _storable(parse(_source(request, old)))


def _files(request: StackRequest, earlier: Evaluation | None) -> Mapping[str, str]:
    """Return the files of a request, or the same ones of the earlier evaluation."""
    if earlier is not None and earlier.inputs.files == request.files:
        return earlier.inputs.files
    return Content(request.files)


def _storable(template: Template) -> Template:
    """Return the template with its document as content, which is hashed once."""
    data = template.source.data
    if type(data) is not dict:
        return template
    return replace(template, source=replace(template.source, data=Content(data)))


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
