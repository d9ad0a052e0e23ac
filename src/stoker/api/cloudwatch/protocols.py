"""The protocols of CloudWatch's clients: how they name an action and encode a response.

Older clients use the query protocol (boto 2, botocore up to 1.35), newer ones JSON 1.0 (the AWS
command line) or CBOR (boto3): botocore's model of the service has all three.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Protocol

import cbor2
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from stoker.api.aws_answers import code_of, error_answer, kind_of, message_of
from stoker.api.documents import parse_object
from stoker.api.interface import path_of
from stoker.api.ports import Compute
from stoker.api.query_answers import answer
from stoker.api.query_parameters import parameters_of
from stoker.kernel.errors import BAD_REQUEST, HTTP_NOT_FOUND, NotFoundError, ValidationError

_ROOTS = ("", "/", "/v1", "/v1/")
# The service name in the address contains its version.
_OPERATION = re.compile(r"(?:/v1)?/service/GraniteServiceVersion20100801/operation/(\w+)")
_LIST = re.compile(r"[1-9][0-9]{0,3}")
_DEEPEST = 20
_KNOWN_TAGS = (0, 2, 3, 4, 5, 25, 28, 29, 30, 35, 36, 37, 52, 54, 100, 256, 258, 260, 261, 1004,
               43000, 55799)  # fmt: skip


class ActionRequest(Struct, frozen=True):
    """A parsed request."""

    action: str
    input: Mapping[str, Any]
    parameters: Mapping[str, str]  # parameters of the address and of a form


class WireProtocol(Protocol):
    """Parses requests and encodes responses in one of CloudWatch's wire protocols."""

    async def parse(self, request: Request, body: bytes, compute: Compute) -> ActionRequest:
        """Parse a request. Raises RequestError (400, 404)."""

    async def answer(
        self, action_request: ActionRequest, result: Mapping[str, Any], compute: Compute
    ) -> Response:
        """Return the response; times in ``result`` are ``datetime``."""

    def fault(self, error: Exception) -> Response:
        """Return the response to a request that ended with ``error``."""


class Query:
    """Parameters in the URL or a form; responses in XML."""

    async def parse(self, request: Request, body: bytes, compute: Compute) -> ActionRequest:
        """See :class:`WireProtocol`."""
        _check_root(request)
        parameters = await parameters_of(request, body, compute)
        return ActionRequest(parameters.get("Action", ""), nested(parameters), parameters)

    async def answer(
        self, action_request: ActionRequest, result: Mapping[str, Any], compute: Compute
    ) -> Response:
        """See :class:`WireProtocol`."""
        as_json = action_request.parameters.get("ContentType") == "JSON"
        return await answer(action_request.action, _with_texts(result), compute, as_json=as_json)

    def fault(self, error: Exception) -> Response:
        """See :class:`WireProtocol`."""
        return error_answer(error)


class Json:
    """JSON 1.0: the action is in a header."""

    async def parse(self, request: Request, body: bytes, compute: Compute) -> ActionRequest:
        """See :class:`WireProtocol`."""
        _check_root(request)
        action = request.headers["x-amz-target"].rpartition(".")[2]
        document = await parse_object(body, compute) if body.strip() else {}
        return ActionRequest(action, document, request.query_params)

    async def answer(
        self, action_request: ActionRequest, result: Mapping[str, Any], compute: Compute
    ) -> Response:
        """See :class:`WireProtocol`."""
        content = await compute(lambda: json.dumps(result, default=datetime.timestamp))
        return Response(content, headers=self._headers())

    def fault(self, error: Exception) -> Response:
        """See :class:`WireProtocol`."""
        content = json.dumps({"__type": code_of(error).name, "message": message_of(error)})
        headers = {**self._headers(), **_in_terms_of_query(error)}
        return Response(content, code_of(error).status, headers=headers)

    def _headers(self) -> dict[str, str]:
        return {"Content-Type": "application/x-amz-json-1.0"}


class Cbor:
    """Smithy's RPC v2 with CBOR: the action is in the path."""

    async def parse(self, request: Request, body: bytes, compute: Compute) -> ActionRequest:
        """See :class:`WireProtocol`."""
        match = _OPERATION.fullmatch(path_of(request))
        if match is None:
            raise NotFoundError("Nothing is served at this address.", HTTP_NOT_FOUND)
        document = await compute(lambda: _decoded(body)) if body else {}
        return ActionRequest(match[1], document, request.query_params)

    async def answer(
        self, action_request: ActionRequest, result: Mapping[str, Any], compute: Compute
    ) -> Response:
        """See :class:`WireProtocol`."""
        content = await compute(lambda: _encoded(result))
        return Response(content, headers=self._headers())

    def fault(self, error: Exception) -> Response:
        """See :class:`WireProtocol`."""
        content = _encoded({"__type": code_of(error).name, "message": message_of(error)})
        headers = {**self._headers(), **_in_terms_of_query(error)}
        return Response(content, code_of(error).status, headers=headers)

    def _headers(self) -> dict[str, str]:
        return {"Content-Type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}


PROTOCOLS: Mapping[str, WireProtocol] = {"query": Query(), "json": Json(), "cbor": Cbor()}


def protocol_of(request: Request) -> str:
    """Return the name of a request's protocol, by its headers."""
    if request.headers.get("smithy-protocol") == "rpc-v2-cbor":
        return "cbor"
    return "json" if "x-amz-target" in request.headers else "query"


def nested(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the structure in parameters such as ``MetricData.member.1.Value``.

    Rejects parameters that contradict each other (400).
    """
    root: dict[str, Any] = {}
    for name, value in parameters.items():
        *path, last = name.split(".")
        if len(path) > _DEEPEST:
            raise ValidationError(f'The parameter "{name:.100}" is nested too deeply.', BAD_REQUEST)
        place = root
        for step in path:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise _contradicted(name)
        if last in place:
            raise _contradicted(name)
        place[last] = value
    return {name: _with_lists(value) for name, value in root.items()}


def _with_lists(value: Any) -> Any:
    """Return a value with lists in place of maps of numbered members."""
    if not isinstance(value, dict):
        return value
    inner = {name: _with_lists(each) for name, each in value.items()}
    numbered = inner.get("member")
    if len(inner) == 1 and isinstance(numbered, dict) and all(map(_LIST.fullmatch, numbered)):
        return [numbered[number] for number in sorted(numbered, key=int)]
    return inner


def _contradicted(name: str) -> ValidationError:
    return ValidationError(f'The parameter "{name:.100}" contradicts another one.', BAD_REQUEST)


def _with_texts(value: Any) -> Any:
    """Return a result with times in the form of the query protocol."""
    if isinstance(value, Mapping):
        return {name: _with_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each) for each in value]
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def _decoded(body: bytes) -> Mapping[str, Any]:
    """Return the map in a body. Raises RequestError (400)."""
    stream = BytesIO(body)
    decoder = cbor2.CBORDecoder(
        stream,
        semantic_decoders=dict.fromkeys(_KNOWN_TAGS, _refuse_tag),
        tag_hook=_refuse_tag,
        max_depth=_DEEPEST,
        strict_hashable_types=True,
    )
    try:
        value = decoder.decode()
    except (cbor2.CBORError, ValueError, OverflowError, RecursionError) as error:
        raise ValidationError(f"The body is not valid CBOR: {error}.", BAD_REQUEST) from None
    if not isinstance(value, dict):
        raise ValidationError("The body is not a map.", BAD_REQUEST)
    if stream.tell() != len(body):
        raise ValidationError(
            "The body is not valid CBOR: something comes after the map.", BAD_REQUEST
        )
    return value


def _refuse_tag(*_: Any) -> Any:
    raise ValueError("it has a tag that no member has")


def _encoded(value: Mapping[str, Any]) -> bytes:
    return cbor2.dumps(value, datetime_as_timestamp=True, timezone=UTC)


def _in_terms_of_query(error: Exception) -> dict[str, str]:
    """Return the header with the query protocol's code of an error."""
    return {"x-amzn-query-error": f"{code_of(error).name};{kind_of(code_of(error))}"}


def _check_root(request: Request) -> None:
    if path_of(request) not in _ROOTS:
        raise NotFoundError("Nothing is served at this address.", HTTP_NOT_FOUND)
