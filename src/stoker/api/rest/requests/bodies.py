"""Turns the body of a create, update, preview or validate request into a StackRequest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.values import flag, optional_text, whole_number
from stoker.engine.model.requests import StackRequest
from stoker.engine.planning.imports import MOST_IMPORTS
from stoker.kernel.errors import ATTRIBUTE_ERROR, VALIDATION_FAILED, ValidationError
from stoker.kernel.json import long

_LONGEST_TAG = 80
_MOST_MOVES = 1_000
_MOST_RELEASES = 1_000
_LONGEST_ID = 255  # characters of the id of an object
_LONGEST_PATH = 2_048  # characters of the path of a resource in nested stacks
_MOST_TAGS = 1_000  # per stack; Heat has no limit
# Fields that can change a stack.
_CHANGING = (
    "template", "template_url", "parameters", "environment", "environment_files", "files",
    "files_container", "clear_parameters", "timeout_mins", "tags",
)  # fmt: skip

Body = Mapping[str, Any]


async def stack_request(
    call: Call, body: Body, *, name: str | None = None, existing: bool = False
) -> StackRequest:
    """Return the request in a body.

    With ``existing``, the template is optional. Raises RequestError (400) for fields of the wrong
    shape; the engine checks the contents of template and environment.
    """
    existing = existing or bool(_optional_flag(body, "existing"))
    template, template_file = await _template(call, body, required=not existing)
    converge = _optional_flag(body, "converge")
    environment_files = _names(body, "environment_files", split_text=False)
    return StackRequest(
        name=name,
        template=template,
        template_file=template_file,
        parameters=_mapping(body, "parameters"),
        environment=None if environment_files else _environment(body),
        environment_files=environment_files,
        files=await _files(call, body),
        timeout_mins=_timeout(body),
        disable_rollback=_optional_flag(body, "disable_rollback"),
        tags=_tags(body),
        existing=existing,
        clear_parameters=_names(body, "clear_parameters"),
        plan_fingerprint=optional_text(body, "plan_fingerprint"),
        converge=call.api.settings.converges if converge is None else converge,
        moves=_moves(body),
        import_objects=_import_objects(body),
        change_imported=bool(_optional_flag(body, "change_imported")),
        keep_objects=_keep_objects(body),
        express=bool(_optional_flag(body, "express")),
    )


def stack_name(body: Body) -> str:
    """Return the name of the new stack. Raises RequestError (400) if there is none."""
    if "stack_name" not in body:
        raise bad_request("No stack name specified: the request has no stack_name.")
    name = body["stack_name"]
    if not isinstance(name, str):
        raise ValidationError("stack_name must be a string.", VALIDATION_FAILED)
    return name


def refuse_update_fields(body: Body) -> None:
    """Raise RequestError (400) if a request for a new stack has fields of updates."""
    if "converge" in body:
        raise bad_request("converge is for updates; a new stack has nothing to converge with.")
    if "moves" in body:
        raise bad_request("moves is for updates; a new stack has no resources to move.")
    if "change_imported" in body:
        raise bad_request(
            "change_imported is for updates; a new stack imports objects as they are."
        )
    if "keep_objects" in body:
        raise bad_request("keep_objects is for updates; a new stack has no resources to release.")


def changes_nothing(body: Body) -> bool:
    """Return whether a PATCH supplies nothing that could change the stack."""
    return not any(body.get(field) for field in _CHANGING)


async def _template(
    call: Call, body: Body, *, required: bool
) -> tuple[str | Mapping[str, Any] | None, str | None]:
    template = body.get("template")
    if isinstance(template, str | dict):
        return template, None
    if template is not None:
        raise bad_request(f"template must be an object or a string, not {type(template).__name__}.")
    url = optional_text(body, "template_url")
    if url is not None:
        return await call.api.fetching.template(url), url
    if required:
        raise bad_request("No template specified: neither template nor template_url is there.")
    return None, None


def _environment(body: Body) -> Mapping[str, Any] | str | None:
    environment = body.get("environment")
    if environment is None or isinstance(environment, str | dict):
        return environment
    raise bad_request(
        f"environment must be an object or a string, not {type(environment).__name__}."
    )


def _names(body: Body, field: str, *, split_text: bool = True) -> tuple[str, ...]:
    value = body.get(field)
    if value is None:
        return ()
    if isinstance(value, str) and split_text:
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise bad_request(f"{field} must be a list of strings.")
    return tuple(value)


def _mapping(body: Body, field: str) -> Mapping[str, Any]:
    value = body.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"{field} must be an object, not {type(value).__name__}."
        # As in Heat, values with members have an error of their own.
        raise ValidationError(message) if isinstance(value, str | list) else bad_request(message)
    return value


_LONGEST_CONTAINER = 256  # bytes, as in every object store


async def _files(call: Call, body: Body) -> Mapping[str, str]:
    found = _mapping(body, "files")

    def texts() -> Mapping[str, str]:
        return {name: _file(name, content) for name, content in found.items()}

    sent = texts() if long.is_short(found) else await call.api.compute(texts)
    container = optional_text(body, "files_container")
    if container is None:
        return sent
    if len(container.encode(errors="replace")) > _LONGEST_CONTAINER:
        raise bad_request(f"files_container is longer than {_LONGEST_CONTAINER} bytes.")
    return {**await call.api.fetching.files(call.caller, container, sent), **sent}


def _file(name: str, content: Any) -> str:
    if isinstance(content, dict | list):
        return "".join(long.pieces(content, json.dumps))
    if not isinstance(content, str):
        raise ValidationError(f'The file "{name}" is not a string.')
    return content


def _moves(body: Body) -> Mapping[str, str]:
    moves = _mapping(body, "moves")
    if len(moves) > _MOST_MOVES:
        raise bad_request(
            f"A request moves at most {_MOST_MOVES} resources; the template can declare more."
        )
    for old, new in moves.items():
        if not isinstance(new, str) or not new:
            raise bad_request(f"moves maps old names to new names; that of {_quoted(old)} is none.")
    return moves


def _import_objects(body: Body) -> Mapping[str, str]:
    found = _mapping(body, "import_objects")
    if len(found) > MOST_IMPORTS:
        raise bad_request(f"A request imports at most {MOST_IMPORTS} objects, not {len(found)}.")
    for name, id_ in found.items():
        if not isinstance(id_, str) or not 0 < len(id_) <= _LONGEST_ID or "\0" in id_:
            raise bad_request(
                "import_objects maps names of resources to ids of objects; that of"
                f" {_quoted(name)} is none."
            )
    return found


def _keep_objects(body: Body) -> tuple[str, ...]:
    found = _names(body, "keep_objects", split_text=False)
    if len(found) > _MOST_RELEASES:
        raise bad_request(f"A request releases at most {_MOST_RELEASES} resources.")
    if any(not path or len(path) > _LONGEST_PATH for path in found):
        raise bad_request("keep_objects lists names of resources, or paths as group/member.")
    return found


def _timeout(body: Body) -> int | None:
    value = body.get("timeout_mins")
    return None if value is None else whole_number("timeout_mins", value) or None


def _optional_flag(body: Body, field: str) -> bool | None:
    if field not in body:
        return None
    value = body[field]
    if not isinstance(value, str | bool) or str(value).lower() not in ("true", "false"):
        raise ValidationError(f"{field} is either true or false, not {_quoted(value)}.")
    return flag(field, value)


def _quoted(value: Any) -> str:
    return type(value).__name__ if isinstance(value, dict | list) else json.dumps(value)[:100]


def _tags(body: Body) -> tuple[str, ...] | None:
    value = body.get("tags")
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValidationError("tags must be a string of tags separated by commas.", ATTRIBUTE_ERROR)
    tags = value.split(",")
    if len(tags) > _MOST_TAGS:
        raise bad_request(f"A stack has at most {_MOST_TAGS} tags, not {len(tags)}.")
    for tag in tags:
        if len(tag) > _LONGEST_TAG:
            raise bad_request(f'Invalid tag, "{tag}" is longer than {_LONGEST_TAG} characters')
        if "\0" in tag:
            raise bad_request(f"The tag {tag!r} has a NUL character inside.")
    return tuple(tags)
