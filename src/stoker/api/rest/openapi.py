"""Describes the API in OpenAPI 3.1, from the table of its operations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from stoker.api.rest.faults import EXPLANATIONS, Fault
from stoker.api.rest.operation import Operation
from stoker.api.rest.router import POST_BELOW, READ_BELOW
from stoker.api.rest.routes import ROUTES

_Schemas = Mapping[Any, dict[str, Any]]  # by the type of a body or a response
PATH = "/openapi.json"  # path of the document, below the version

_BELOW: Mapping[str, Sequence[str]] = {"{below:read}": READ_BELOW, "{below:post}": POST_BELOW}
_ANOTHER_SPELLING = "{stack_name:arn}"
_VARIABLE = re.compile(r"\{(\w+)(?::\w+)?\}")
_VARIABLES = {
    "project_id": "The project of the token.",
    "stack_name": "Name of a stack; where no id follows, also an id or an ARN.",
    "stack_id": "Id of the stack.",
    "resource_name": "Name of a resource in the template.",
    "event_id": "Id of an event.",
    "output_key": "Name of an output.",
    "snapshot_id": "Id of a snapshot.",
    "type_name": "Name of a resource type.",
    "constraint": "A custom constraint, such as nova.flavor.",
    "version": "A template version, such as heat_template_version.2021-04-16.",
    "config_id": "Id of a software config.",
    "deployment_id": "Id of a software deployment.",
    "server_id": "Id of a server.",
}
_LOCATION = {"Location": {"schema": {"type": "string", "format": "uri"}}}
_SUCCESSES = {
    200: "Done.",
    201: "The stack is being made.",
    202: "The request is recorded and will be carried out.",
    204: "Done, or recorded and to be carried out; there is nothing to say.",
    302: "Where it is. Send the same request there, with the same method.",
}
_FAULTS = (400, 403, 404, 405, 409, 500, 503)


def document(root: str, *, passwords: bool = False) -> dict[str, Any]:
    """Return the document for clients that reach the API at ``root`` (without the version).

    With ``passwords``, a user name and a password are accepted in place of a token.
    """
    schemes, security = _security(passwords=passwords)
    base = _base()
    return {
        **base,
        "servers": [{"url": f"{root}/v1"}],
        "security": security,
        "components": {**base["components"], "securitySchemes": schemes},
    }


@cache
def _base() -> dict[str, Any]:
    """Return the part that is the same for all clients."""
    schemas, components = _schemas()
    paths: dict[str, Any] = {}
    for operation in ROUTES:
        for path in _spelled_out(operation.path):
            method, item = operation.method.lower(), paths.setdefault(path, _item(path))
            item[method] = _operation(operation, path, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Orchestration",
            "version": "1.0",
            "description": "OpenStack's orchestration API as Stoker serves it.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": components, "responses": _shared_answers()},
    }


def _schemas() -> tuple[_Schemas, dict[str, Any]]:
    """Return the schemas of all bodies and responses, and those that they refer to by name."""
    kinds: list[Any] = [Fault]
    for operation in ROUTES:
        kinds += (
            [operation.answer] if operation.body is None else [operation.answer, operation.body]
        )
    found, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}"
    )
    return dict(zip(kinds, found, strict=True)), components


def _spelled_out(path: str) -> Iterator[str]:
    """Yield the addresses of a route, without patterns for the router."""
    if _ANOTHER_SPELLING in path:
        return  # a name has the same address
    for variable, below in _BELOW.items():
        if variable in path:
            for each in below:
                yield from _spelled_out(path.replace(variable, each))
            return
    yield "/{project_id}" + _VARIABLE.sub(r"{\1}", path)


def _item(path: str) -> dict[str, Any]:
    """Return the part that is the same for all methods of an address."""
    return {
        "parameters": [
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": _VARIABLES[name],
                "schema": {"type": "string", "minLength": 1},
            }
            for name in _VARIABLE.findall(path)
        ]
    }


def _operation(operation: Operation, path: str, schemas: _Schemas) -> dict[str, Any]:
    summary, _, details = inspect.cleandoc(operation.handler.__doc__ or "").partition("\n\n")
    words = re.findall(r"\w+", path.removeprefix("/{project_id}"))
    found: dict[str, Any] = {
        "operationId": "_".join([operation.method.lower(), *words]),
        "tags": [operation.handler.__module__.rpartition(".")[2]],
        "summary": " ".join(summary.split()),
        "x-policies": list(operation.rules),
        "responses": _answers(operation, schemas),
    }
    if details:
        found["description"] = details
    if operation.query:
        found["parameters"] = [
            {"name": p.name, "in": "query", "description": p.description, "schema": p.schema()}
            for p in operation.query
        ]
    if operation.body is not None:
        content = {"application/json": {"schema": schemas[operation.body]}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _answers(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    status = operation.status
    success: dict[str, Any] = {"description": _SUCCESSES[status]}
    if status in (201, 302):
        success["headers"] = _LOCATION
    if status in (202, 302):
        success["content"] = {"text/html": {"schema": {"type": "string"}}}
    elif status != 204:
        success["content"] = {"application/json": {"schema": schemas[operation.answer]}}
    faults = {f"{each}": {"$ref": f"#/components/responses/{each}"} for each in (401, *_FAULTS)}
    return {f"{status}": success, **faults}


def _shared_answers() -> dict[str, Any]:
    """Return the responses for errors."""
    fault = {"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}}
    found = {f"{s}": {"description": EXPLANATIONS[s], "content": fault} for s in _FAULTS}
    challenge = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    found["401"] = {
        "description": "Nothing proves who sends the request.",
        "headers": challenge,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
    return found


def _security(*, passwords: bool) -> tuple[dict[str, Any], list[dict[str, list[str]]]]:
    """Return the security schemes, and their sufficient combinations."""
    names = ["X-Auth-Token", *(["X-Auth-User", "X-Auth-Key"] if passwords else [])]
    schemes = {name: {"type": "apiKey", "in": "header", "name": name} for name in names}
    enough: list[dict[str, list[str]]] = [{"X-Auth-Token": []}]
    if passwords:
        enough.append({"X-Auth-User": [], "X-Auth-Key": []})
    return schemes, enough
