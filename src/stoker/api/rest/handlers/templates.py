"""Templates without a stack: validation, versions, functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response, json_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import Finding, bad_request, findings
from stoker.api.rest.requests.bodies import stack_request
from stoker.api.rest.requests.parameters import Flag, Parameter, Text, Texts
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import BAD_REQUEST, VALIDATION_FAILED
from stoker.kernel.values import replace

_SHOW_NESTED = Flag("show_nested", "With the parameters of nested stacks.")
_IGNORE_ERRORS = Text("ignore_errors", "Codes of errors to pass over, separated by commas: 99001.")
_WITH_DIAGNOSTICS = Flag("with_diagnostics", "With warnings. Stoker's own.")
VALIDATE_QUERY: tuple[Parameter, ...] = (_SHOW_NESTED, _IGNORE_ERRORS, _WITH_DIAGNOSTICS)
_FROM = Texts("from", "Names or ids of objects to start from; all by default. May be repeated.")
EXISTING_QUERY: tuple[Parameter, ...] = (_FROM,)
_MOST_ROOTS = 100
WITH_CONDITION_FUNC = Flag("with_condition_func", "With the functions of conditions.")


class Validated(TypedDict):
    """The description, parameters and environment of a template."""

    Description: str
    Parameters: Mapping[str, Mapping[str, Any]]
    ParameterGroups: NotRequired[list[Mapping[str, Any]]]
    Environment: NotRequired[Mapping[str, Any]]
    NestedParameters: NotRequired[Mapping[str, Any]]
    diagnostics: NotRequired[list[Finding]]


class ExistingTemplate(TypedDict):
    """A template that imports existing objects."""

    template: Mapping[str, Any]


class Choice(TypedDict):
    """An object of the cloud."""

    id: str
    name: str


class ChoiceList(TypedDict):
    """Objects of the cloud that a parameter may name."""

    choices: list[Choice]


class TemplateVersion(TypedDict):
    """A version of the template language."""

    version: str
    type: str
    aliases: list[str]


class VersionList(TypedDict):
    """All versions."""

    template_versions: list[TemplateVersion]


class TemplateFunction(TypedDict):
    """A function of a version."""

    functions: str
    description: str


class FunctionList(TypedDict):
    """The functions of a version."""

    template_functions: list[TemplateFunction]


_ORDINARY = VALIDATION_FAILED
# Errors that a client may request to ignore: only a missing service for a type, which validation
# does not check here.
_IGNORABLE = frozenset({"99001"})


async def of_existing(call: Call) -> Response:
    """Show a template of existing objects, which imports them. Not part of Heat's API."""
    roots = _FROM.read(call.query)
    if len(roots) > _MOST_ROOTS:
        raise bad_request(f"A template starts from at most {_MOST_ROOTS} objects.")
    found = await call.service.descriptions.of_existing(call.caller, roots)
    answer: ExistingTemplate = {"template": found}
    return await document_response(call.api.compute, answer)


async def list_choices(call: Call) -> Response:
    """List objects that a custom constraint accepts, by name. Not part of Heat's API."""
    found = await call.service.descriptions.choices(call.caller, call.path["constraint"])
    answer: ChoiceList = {"choices": [{"id": each.id, "name": each.name} for each in found]}
    return await document_response(call.api.compute, answer)


async def validate(call: Call) -> Response:
    """Show the parameters and environment of a template, or all its faults (400).

    Warnings are included on demand only, because clients know the response's keys.
    """
    show_nested = _SHOW_NESTED.read(call.query)
    ignored = _IGNORE_ERRORS.read(call.query)
    if ignored is not None:
        _check_ignorable(ignored.split(","))
    request = await stack_request(call, await call.document())
    try:
        described, warnings = await call.service.descriptions.validate(
            call.caller, request, show_nested=show_nested
        )
    except DiagnosticError as error:
        found = _as_bad_request(error.diagnostics, show_nested=show_nested)
        raise DiagnosticError(found) from error
    answer = dict(described)
    if warnings and _WITH_DIAGNOSTICS.read(call.query):
        answer["diagnostics"] = findings(warnings)
    return await document_response(call.api.compute, answer)


def _check_ignorable(codes: list[str]) -> None:
    unknown = sorted(set(codes) - _IGNORABLE)
    if unknown:
        raise bad_request(
            f"ignore_errors takes {', '.join(sorted(_IGNORABLE))}, not {', '.join(unknown)!r}."
        )


async def list_versions(call: Call) -> Response:
    """List the versions of the template language."""
    return json_response({"template_versions": call.api.catalogue.template_versions()})


async def list_functions(call: Call) -> Response:
    """List the functions of a version; condition functions on demand."""
    functions = call.api.catalogue.template_functions(
        call.path["version"], with_conditions=WITH_CONDITION_FUNC.read(call.query)
    )
    return json_response({"template_functions": functions})


def _as_bad_request(diagnostics: Iterable[Diagnostic], *, show_nested: bool) -> list[Diagnostic]:
    """Return the findings with the error type that only the validate call uses.

    Those in nested templates keep their types if the nested stacks were requested, as in Heat.
    """
    return [
        replace(d, error_type=BAD_REQUEST)
        if d.error_type == _ORDINARY and not (show_nested and d.file)
        else d
        for d in diagnostics
    ]
