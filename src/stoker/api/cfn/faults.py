"""Errors under the names that clients of CloudFormation match on."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from stoker.api.aws_answers import error_answer
from stoker.kernel.errors import (
    ACCESS_DENIED,
    CHANGE_SET_NOT_FOUND,
    FORBIDDEN,
    HTTP_NOT_FOUND,
    LIMIT_EXCEEDED,
    METHOD_NOT_ALLOWED,
    PLAN_OUTDATED,
    REFACTOR_NOT_FOUND,
    STACK_EXISTS,
    STACK_SET_NOT_FOUND,
    TOKEN_EXISTS,
    ErrorType,
)

_VALIDATION_ERROR = ErrorType("ValidationError", 400)
_CODES: Mapping[ErrorType, ErrorType] = {
    FORBIDDEN: ACCESS_DENIED,
    HTTP_NOT_FOUND: ErrorType("InvalidAction", 404),
    LIMIT_EXCEEDED: ErrorType("LimitExceededException", 400),
    METHOD_NOT_ALLOWED: ErrorType("InvalidAction", 405),
    PLAN_OUTDATED: ErrorType("InvalidChangeSetStatus", 400),
    **{
        each: each
        for each in (CHANGE_SET_NOT_FOUND, REFACTOR_NOT_FOUND, STACK_SET_NOT_FOUND, TOKEN_EXISTS)
    },
    STACK_EXISTS: ErrorType("AlreadyExistsException", 400),
}


def fault(error: Exception) -> Response:
    """Return the response to a request that ended with ``error``."""
    return error_answer(error, _CODES, _VALIDATION_ERROR)
